import { describe, expect, test } from 'vitest';
import { TerminalError } from '../controller/loop/terminal-error.js';
import type { ConfigMap } from '../kinds/index.js';
import { ApiError } from '../rest/errors/api-error.js';
import { runningChain } from './chain.fixture.js';
import { HandlersError } from './handlers-error.js';
import { HandlerFailure, IgnoreError } from './ignore-error.js';

const conflict = () =>
  new ApiError({ code: 409, reason: 'Conflict', message: 'somebody was faster' } as never, {} as never);

describe('in order', () => {
  test('handlers run in the order of registration; what one returns is what the next sees', async () => {
    await using run = await runningChain();
    const seen: string[] = [];
    run.chain.add('one', (_, object) => {
      seen.push(`one ${object?.metadata.resourceVersion}`);
      return run.put('a', {}, false);
    });
    run.chain.add('two', (_, object) => {
      seen.push(`two ${object?.metadata.resourceVersion} ${Object.isFrozen(object)}`);
      return { metadata: {} } as ConfigMap;
    });
    run.chain.add('three', (key, object) => void seen.push(`three ${key} ${object?.metadata.resourceVersion}`));
    run.put('a');
    await run.clock.settle();
    expect(seen).toEqual(['one 1', 'two 2 true', 'three shop/a 2']);
  });

  test('an object that is gone is undefined, for every handler', async () => {
    await using run = await runningChain();
    const seen: unknown[] = [];
    run.chain.add('one', (key, object) => void seen.push([key, object]));
    run.chain.add('two', (key, object) => void seen.push([key, object]));
    run.remove('a');
    await run.clock.settle();
    expect(seen).toEqual([
      ['shop/a', undefined],
      ['shop/a', undefined],
    ]);
  });

  test('all run even if one fails; errors name the handlers', async () => {
    await using run = await runningChain();
    const seen: string[] = [];
    run.chain.add('one', () => {
      throw new Error('no luck');
    });
    run.chain.add('two', () => void seen.push('two'));
    run.chain.add('three', () => Promise.reject('text'));
    run.put('a');
    await run.clock.settle();
    expect(seen).toEqual(['two']);
    const reported = run.log.records.find(({ level }) => level === 'error');
    expect(reported?.fields.error).toBeInstanceOf(HandlersError);
    expect(reported?.fields.error).toMatchObject({
      message: 'handler one: no luck, handler three: text',
      failed: [{ handler: 'one' }, { handler: 'three', error: 'text' }],
    });
  });

  test('an object that comes with an error is what the next sees, too', async () => {
    await using run = await runningChain();
    const seen: unknown[] = [];
    run.chain.add('one', () => {
      throw new HandlerFailure('half done', { object: run.put('a', {}, false) });
    });
    run.chain.add('two', (_, object) => {
      seen.push(object?.metadata.resourceVersion);
      throw new IgnoreError('not mine', { object: run.put('a', {}, false) });
    });
    run.chain.add('three', (_, object) => void seen.push(object?.metadata.resourceVersion));
    run.put('a');
    await run.clock.settle();
    expect(seen).toEqual(['2', '3']);
  });

  test('handlers know why they run, which time it is, and whose log it is', async () => {
    await using run = await runningChain();
    const seen: unknown[] = [];
    run.chain.add('one', (_, __, { reasons, attempt, log, signal }) => {
      log.info('hello');
      seen.push([reasons.map(({ source }) => source), attempt, signal.aborted]);
      if (attempt === 1) throw new Error('again');
    });
    run.put('a');
    await run.clock.advance(1_000);
    expect(seen).toEqual([
      [['ConfigMap changed'], 1, false],
      [['retry'], 2, false],
    ]);
    expect(run.log.records.find(({ message }) => message === 'hello')?.fields).toMatchObject({
      controller: 'things',
      handler: 'one',
      key: 'shop/a',
    });
  });
});

describe('what fails', () => {
  test('is tried again with waits of 5 ms, doubled up to 30 s, then 2 minutes', async () => {
    await using run = await runningChain();
    const at: number[] = [];
    run.chain.add('one', () => {
      at.push(run.clock.monotonic());
      throw new Error('no luck');
    });
    run.put('a');
    await run.clock.advance(3_600_000);
    const waits = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    expect(waits.slice(0, 4)).toEqual([5, 10, 20, 40]);
    expect(waits[15]).toBe(30_000);
    expect(waits[29]).toBe(30_000);
    expect(waits[30]).toBe(120_000);
  });

  test('a retry runs only those that failed, as long as the object is what they saw', async () => {
    await using run = await runningChain();
    const seen: string[] = [];
    let failures = 2;
    run.chain.add('one', (_, object) => void seen.push(`one ${object?.metadata.resourceVersion}`));
    run.chain.add('two', (_, object) => {
      seen.push(`two ${object?.metadata.resourceVersion}`);
      if (failures-- > 0) throw new Error('again');
    });
    run.put('a');
    await run.clock.advance(1_000);
    expect(seen).toEqual(['one 1', 'two 1', 'two 1', 'two 1']);
    seen.length = 0;
    failures = 1;
    run.enqueue('a', 'enqueue');
    await run.clock.settle();
    run.put('a', {}, false);
    await run.clock.advance(1_000);
    expect(seen).toEqual(['one 1', 'two 1', 'one 2', 'two 2']);
  });

  test('what is asked for meanwhile runs all, and the retry that is left over runs none', async () => {
    await using run = await runningChain();
    const seen: string[] = [];
    let fails = true;
    run.chain.add('one', () => void seen.push('one'));
    run.chain.add('two', () => {
      seen.push('two');
      if (fails) throw new Error('again');
    });
    run.put('a');
    await run.clock.settle();
    fails = false;
    run.enqueue('a', 'enqueue');
    await run.clock.advance(60_000);
    expect(seen).toEqual(['one', 'two', 'one', 'two']);
  });

  test('each of several that are tried again gets the newest object of the cache', async () => {
    await using run = await runningChain();
    const seen: string[] = [];
    const handler =
      (name: string) =>
      (_: string, object: ConfigMap | undefined, { attempt }: { attempt: number }) => {
        seen.push(`${name} ${object?.metadata.resourceVersion}`);
        // A write that the chain does not see.
        if (attempt === 2 && name === 'one') run.put('a', {}, false);
        if (attempt === 1) throw new Error('again');
      };
    run.chain.add('one', handler('one'));
    run.chain.add('two', handler('two'));
    run.put('a');
    await run.clock.advance(1_000);
    expect(seen).toEqual(['one 1', 'two 1', 'one 1', 'two 2']);
  });

  test("the original's way: a retry runs all", async () => {
    await using run = await runningChain({ retry: 'all' });
    const seen: string[] = [];
    run.chain.add('one', () => void seen.push('one'));
    run.chain.add('two', (_, __, { attempt }) => {
      seen.push('two');
      if (attempt === 1) throw new Error('again');
    });
    run.put('a');
    await run.clock.advance(1_000);
    expect(seen).toEqual(['one', 'two', 'one', 'two']);
  });

  test('when the object could not be read, all run later', async () => {
    await using run = await runningChain();
    const seen: string[] = [];
    run.chain.add('one', () => void seen.push('one'));
    run.reading.failure = new Error('no cache');
    run.put('a');
    await run.clock.settle();
    delete run.reading.failure;
    await run.clock.advance(1_000);
    expect(seen).toEqual(['one']);
  });

  test('IgnoreError is a success; a TerminalError is not tried again, and does not keep others from it', async () => {
    await using run = await runningChain();
    const seen: string[] = [];
    run.chain.add('ignores', () => {
      seen.push('ignores');
      throw new Error('wrapped', { cause: new IgnoreError() });
    });
    run.put('a');
    await run.clock.advance(3_600_000);
    expect(seen).toEqual(['ignores']);
    expect(run.log.messages('error')).toEqual([]);
    run.chain.add('ends', () => {
      seen.push('ends');
      throw new TerminalError('never');
    });
    run.chain.add('fails', (_, __, { attempt }) => {
      seen.push('fails');
      if (attempt < 3) throw new Error('again');
    });
    run.put('a');
    await run.clock.advance(3_600_000);
    expect(seen).toEqual(['ignores', 'ignores', 'ends', 'fails', 'fails', 'fails']);
  });

  test('conflicts are tried again and not logged', async () => {
    await using run = await runningChain();
    let calls = 0;
    run.chain.add('one', () => {
      calls += 1;
      if (calls < 3) throw conflict();
    });
    run.put('a');
    await run.clock.advance(1_000);
    expect(calls).toBe(3);
    expect(run.log.messages('error')).toEqual([]);
  });
});

describe('handlers come and go', () => {
  test('one that is removed while it runs ends by its signal; its error is not tried again, the rest continues', async () => {
    await using run = await runningChain();
    const seen: string[] = [];
    const stop = new AbortController();
    run.chain.add(
      'one',
      async (_, __, { signal }) => {
        seen.push('one');
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
      stop.signal,
    );
    run.chain.add('two', () => void seen.push('two'));
    run.put('a');
    await run.clock.settle();
    expect(seen).toEqual(['one']);
    stop.abort();
    await run.clock.advance(3_600_000);
    expect(seen).toEqual(['one', 'two']);
    expect(run.log.messages('error')).toEqual([]);
    expect(run.chain.handlers).toEqual(['two']);
  });

  test('one that removes those around it does not disturb the walk', async () => {
    await using run = await runningChain();
    const seen: string[] = [];
    const [first, third] = [new AbortController(), new AbortController()];
    run.chain.add('one', () => void seen.push('one'), first.signal);
    run.chain.add('two', () => {
      seen.push('two');
      first.abort();
      third.abort();
    });
    run.chain.add('three', () => void seen.push('three'), third.signal);
    run.chain.add('four', () => void seen.push('four'));
    run.put('a');
    await run.clock.settle();
    run.put('a');
    await run.clock.settle();
    expect(seen).toEqual(['one', 'two', 'four', 'two', 'four']);
  });

  test('remove() waits for calls in flight; a handler whose signal has aborted is not called', async () => {
    await using run = await runningChain();
    let release = () => {};
    const one = run.chain.add(
      'one',
      () =>
        new Promise<void>((resolve) => {
          release = resolve;
        }),
    );
    run.put('a');
    await run.clock.settle();
    let isRemoved = false;
    const removed = one.remove().then(() => {
      isRemoved = true;
    });
    await run.clock.settle();
    expect(isRemoved).toBe(false);
    release();
    await removed;
    run.chain.add('two', () => {}, AbortSignal.abort());
    expect(run.chain.size).toBe(0);
  });

  test('wrangler PR#361: nothing is left of handlers that came and went', async () => {
    await using run = await runningChain();
    const seen: string[] = [];
    for (let i = 0; i < 100; i += 1) {
      await using _handler = run.chain.add(`h-${i}`, () => void seen.push(`h-${i}`));
      expect(run.chain.size).toBe(1);
    }
    run.put('a');
    await run.clock.settle();
    expect(run.chain.size).toBe(0);
    expect(seen).toEqual([]);
  });
});

describe('the stale object after the last finalizer is gone', () => {
  test('rancher#49328: it is not handled again; its end is', async () => {
    await using run = await runningChain();
    const seen: string[] = [];
    run.chain.add('cleanup', (_, object) => {
      seen.push(object === undefined ? 'gone' : `finalizers: ${object.metadata.finalizers?.length ?? 0}`);
      // What the server answers to the removal of the last finalizer; the cache does not know it yet.
      return object && { ...object, metadata: { ...object.metadata, finalizers: undefined } };
    });
    run.put('a', { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['mine'] });
    await run.clock.settle();
    run.enqueue('a');
    await run.clock.settle();
    expect(seen).toEqual(['finalizers: 1']);
    run.remove('a');
    await run.clock.settle();
    expect(seen).toEqual(['finalizers: 1', 'gone']);
    await run.clock.advance(120_000);
    expect(seen).toEqual(['finalizers: 1', 'gone']);
  });

  test('after a minute it is believed to be there; another object of the name at once', async () => {
    await using run = await runningChain();
    const seen: string[] = [];
    run.chain.add('cleanup', (_, object) => {
      seen.push(`${run.clock.monotonic()} ${object?.metadata.uid}`);
      return object && { ...object, metadata: { ...object.metadata, finalizers: undefined } };
    });
    const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['mine'] };
    run.put('a', deleting);
    await run.clock.settle();
    run.put('a', { ...deleting, uid: 'other' });
    await run.clock.settle();
    expect(seen).toEqual(['0 uid-a', '0 other']);
    run.enqueue('a');
    await run.clock.advance(70_000);
    expect(seen).toEqual(['0 uid-a', '0 other', '60000 other']);
  });

  test('a Pod that has time to end is no such object', async () => {
    await using run = await runningChain();
    let calls = 0;
    run.chain.add('one', () => {
      calls += 1;
    });
    const ending = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 };
    run.put('a', ending);
    await run.clock.settle();
    run.put('a', ending);
    await run.clock.settle();
    expect(calls).toBe(2);
  });
});

test('metrics have the names that lasso gives them', async () => {
  await using run = await runningChain();
  run.chain.add('one', async (_, __, { attempt }) => {
    await run.clock.sleep(250);
    if (attempt === 1) throw new Error('again');
  });
  run.put('a');
  await run.clock.advance(1_000);
  const labels = { ctx: 'test', controller_name: 'things', handler_name: 'one' };
  const executions = 'lasso_controller_total_handler_execution';
  expect(run.metrics.value(executions, { ...labels, has_error: 'true' })).toBe(1);
  expect(run.metrics.value(executions, { ...labels, has_error: 'false' })).toBe(1);
  expect(run.metrics.observed('lasso_controller_reconcile_time_seconds', { ...labels, has_error: 'true' })).toEqual([
    0.25,
  ]);
});
