import { describe, expect, test } from 'vitest';
import type { Change } from './change.js';
import { FilteringResourceEventHandler } from './filtering-resource-event-handler.js';
import { DrivenInformer, noting, type Thing, thing } from './informer.fixture.js';

const isEven = ({ metadata }: Thing) => Number(metadata.resourceVersion) % 2 === 0;

describe('FilteringResourceEventHandler', () => {
  test('turns transitions into additions and deletions', async () => {
    await using driven = new DrivenInformer();
    const seen: string[] = [];
    driven.informer.addEventHandler(new FilteringResourceEventHandler({ filter: isEven, handler: noting(seen) }));
    await driven.start(thing('a', 2), thing('b', 1));
    await driven.update(thing('a', 4), thing('b', 3), thing('b', 6), thing('a', 5), thing('a', 7));
    await driven.delete(thing('a', 7), thing('b', 8));
    expect(seen).toEqual(['add a2!', 'update a2 a4', 'add b6', 'delete a4', 'delete b8']);
  });

  test('hands out changes that fit', async () => {
    await using driven = new DrivenInformer();
    const changes: Change<Thing>[] = [];
    const handler = { onChange: (change: Change<Thing>) => changes.push(change) };
    driven.informer.addEventHandler(new FilteringResourceEventHandler({ filter: isEven, handler }));
    await driven.start(thing('a', 1));
    await driven.update(thing('a', 2), thing('a', 3));
    expect(
      changes.map(({ type, key, old, new: next, metadata }) => [type, key, old?.spec, next?.spec, metadata.name]),
    ).toEqual([
      ['Added', 'shop/a', undefined, thing('a', 2).spec, 'a'],
      ['Deleted', 'shop/a', thing('a', 2).spec, undefined, 'a'],
    ]);
    expect(changes.map(({ metadata }) => metadata.resourceVersion)).toEqual(['2', '2']);
  });

  test('stays right for a handler whose changes are merged', async () => {
    await using driven = new DrivenInformer();
    const seen: string[] = [];
    const handler = noting(seen, () => driven.clock.sleep(1000));
    driven.informer.addEventHandler(new FilteringResourceEventHandler({ filter: isEven, handler }), { bufferSize: 1 });
    await driven.start(thing('a', 2), thing('x', 2));
    // Merged to one deletion: the handler knows a2, so it has to hear of it though a3 does not pass.
    await driven.update(thing('a', 3));
    await driven.delete(thing('a', 3));
    await driven.clock.runAll();
    expect(seen).toEqual(['add a2!', 'add x2!', 'delete a2?']);
  });

  test('a filter or handler that fails is reported as any', async () => {
    const errors: unknown[] = [];
    await using driven = new DrivenInformer({ onHandlerError: (error) => errors.push(error) });
    const filter = () => {
      throw new Error('cannot tell');
    };
    driven.informer.addEventHandler(new FilteringResourceEventHandler<Thing>({ filter, handler: {} }));
    await driven.start(thing('a', 1));
    expect(errors.map(String)).toEqual(['Error: cannot tell']);
  });

  test('a filter that fails for one version: the next one is seen', async () => {
    await using driven = new DrivenInformer({ onHandlerError: () => {} });
    const seen: string[] = [];
    const filter = ({ spec }: Thing) => {
      if (spec?.value === 1) throw new Error('cannot tell');
      return true;
    };
    driven.informer.addEventHandler(new FilteringResourceEventHandler({ filter, handler: noting(seen) }));
    await driven.start(thing('a', 1), thing('b', 2));
    await driven.update(thing('a', 2));
    expect(seen).toEqual(['add b2!', 'add a2']);
  });
});
