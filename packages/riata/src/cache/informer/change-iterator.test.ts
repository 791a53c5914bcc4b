import { describe, expect, test } from 'vitest';
import type { Change } from './change.js';
import { DrivenInformer, short, type Thing, thing } from './informer.fixture.js';

const reported = ({ type, old, new: next }: Change<Thing>) =>
  `${type} ${old ? short(old) : '-'} ${next ? short(next) : '-'}`;

describe('for await over changes', () => {
  test('gives what there is and what changes, and ends with the informer', async () => {
    const driven = new DrivenInformer();
    await driven.start(thing('a', 1));
    const seen: string[] = [];
    const reading = (async () => {
      for await (const change of driven.informer.changes()) seen.push(reported(change));
    })();
    await driven.clock.settle();
    await driven.update(thing('a', 2), thing('b', 1));
    await driven.delete(thing('a', 2));
    expect(seen).toEqual(['Added - a1', 'Updated a1 a2', 'Added - b1', 'Deleted a2 -']);
    await driven.stop();
    await reading;
  });

  test('a slow reader gets the first `old` and the last `new`', async () => {
    await using driven = new DrivenInformer();
    await driven.start();
    const changes = driven.informer.changes({ bufferSize: 1 });
    await driven.update(...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((version) => thing('a', version)));
    expect(driven.informer.health.handlers[0]).toMatchObject({ pending: 2, coalesced: 6 });
    const seen: string[] = [];
    for await (const change of changes) {
      seen.push(reported(change));
      if (change.metadata.resourceVersion === '9') break;
    }
    expect(seen).toEqual(['Added - a1', 'Updated a1 a2', 'Updated a2 a9']);
    expect(driven.informer.health.handlers).toEqual([]);
  });

  test('the signal ends it with its reason', async () => {
    await using driven = new DrivenInformer();
    await driven.start();
    const stop = new AbortController();
    const changes = driven.informer.changes({ signal: stop.signal });
    const [first, second] = [changes.next(), changes.next()];
    await driven.update(thing('a', 1));
    expect(await first).toMatchObject({ value: { key: 'shop/a' } });
    stop.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    await expect(changes.next()).rejects.toThrow('enough');
    expect(driven.informer.health.handlers).toEqual([]);
  });

  test('a signal that has aborted already, too', async () => {
    await using driven = new DrivenInformer();
    await driven.start(thing('a', 1));
    const changes = driven.informer.changes({ signal: AbortSignal.abort(new Error('before')) });
    await expect(changes.next()).rejects.toThrow('before');
    expect(driven.informer.health.handlers).toEqual([]);
  });

  test('what was not read when it ends lets the informer stop', async () => {
    const driven = new DrivenInformer();
    const changes = driven.informer.changes();
    await driven.start(thing('a', 1), thing('b', 1));
    expect(driven.informer.health.handlers[0]).toMatchObject({ pending: 1 });
    await driven.stop();
    expect(await changes.next()).toEqual({ done: true, value: undefined });
    expect(await changes.return?.()).toEqual({ done: true, value: undefined });
  });
});
