import { describe, expect, test } from 'vitest';
import type { RetryingWatchEvent, RetryingWatchOptions } from '../../client/watch/retrying-watch.js';
import { ConfigMap, Deployment, Node } from '../../kinds/index.js';
import { onAbort } from '../../runtime/signals.js';
import { Shutdown } from '../../runtime/stop-reasons.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { type WaitForOptions, waitFor, waitForCondition, waitForDeletion } from './wait-for.js';
import { isWaitTimeout, type WaitTimeoutError } from './wait-timeout-error.js';

const key = { namespace: 'shop', name: 'cart' };
const cart = (version: number, more: object = {}, metadata: object = {}) => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap' },
  metadata: { ...key, uid: 'u', resourceVersion: String(version), creationTimestamp: '', ...metadata },
  ...more,
});

/** A client whose watch says what the test says. */
function setUp() {
  const clock = new VirtualClock();
  const waiting: RetryingWatchEvent<never>[] = [];
  let wake = () => {};
  let open = 0;
  let failure: Error | undefined;
  let asked: RetryingWatchOptions = {};
  const client = {
    retryingWatch: (_kind: unknown, options: RetryingWatchOptions) => {
      asked = options;
      open += 1;
      return {
        async *[Symbol.asyncIterator]() {
          for (;;) {
            const next = waiting.shift();
            if (next !== undefined) yield next;
            else if (failure !== undefined) throw failure;
            else {
              await new Promise<void>((resolve, reject) => {
                wake = resolve;
                onAbort(options.signal, () => reject(options.signal?.reason));
              });
            }
          }
        },
        [Symbol.asyncDispose]: async () => {
          open -= 1;
        },
      };
    },
  } as never;
  const say = async (...events: readonly object[]) => {
    waiting.push(...(events as never[]));
    wake();
    await clock.settle();
  };
  const fail = async (error: Error) => {
    failure = error;
    wake();
    await clock.settle();
  };
  const retry = (error: unknown) => asked.onRetry?.(error, 100);
  return { clock, client, say, fail, retry, asked: () => asked, open: () => open, runtime: { clock } };
}

const reset = { type: 'RESET' };
const synced = { type: 'SYNCED', resourceVersion: '1' };
const added = (object: object) => ({ type: 'ADDED', object });
const modified = (object: object) => ({ type: 'MODIFIED', object });
const gone = (object: object) => ({ type: 'DELETED', object });

async function failureOf(promise: Promise<unknown>): Promise<WaitTimeoutError> {
  const error = await promise.catch((thrown: unknown) => thrown);
  if (!isWaitTimeout(error)) throw new Error('expected a WaitTimeoutError', { cause: error });
  return error;
}

describe('waitFor', () => {
  const isBig = (object: ConfigMap | undefined) => object?.data?.size === '9';

  test('looks at what there is, then at each change; watches the one object', async () => {
    const { client, say, asked, open, clock, runtime } = setUp();
    const outcome = waitFor(client, ConfigMap, key, isBig, { runtime });
    await say(reset, added(cart(1)), synced, modified(cart(2, { data: { size: '5' } })));
    expect(asked()).toMatchObject({ namespace: 'shop', fieldSelector: { 'metadata.name': 'cart' } });
    await say(modified(cart(3, { data: { size: '9' } })));
    expect((await outcome)?.metadata.resourceVersion).toBe('3');
    expect([open(), clock.pending]).toEqual([0, 0]);
  });

  test('undefined while it does not exist: known only after the first list', async () => {
    const { client, say, runtime } = setUp();
    const seen: (string | undefined)[] = [];
    const outcome = waitFor(
      client,
      ConfigMap,
      key,
      (object) => {
        seen.push(object?.metadata.resourceVersion);
        return seen.length === 4;
      },
      { runtime },
    );
    await say(reset);
    expect(seen).toEqual([]);
    await say(synced, added(cart(2)), { type: 'BOOKMARK', object: cart(3) }, gone(cart(4)), reset, added(cart(7)));
    expect((await outcome)?.metadata.resourceVersion).toBe('7');
    expect(seen).toEqual([undefined, '2', undefined, '7']);
  });

  test('an object that was deleted while it was not watched is gone', async () => {
    const { client, say, runtime } = setUp();
    const outcome = waitForDeletion(client, ConfigMap, key, { runtime });
    await say(reset, added(cart(1)), synced, reset, synced);
    await expect(outcome).resolves.toBeUndefined();
  });

  test('time is up: the error shows the last state', async () => {
    const { client, say, clock, open, runtime } = setUp();
    const outcome = failureOf(
      waitFor(client, Deployment, key, () => false, { timeout: '1m', what: 'it flies', runtime }),
    );
    const conditions = [
      { type: 'Available', status: 'False', reason: 'NoPods', message: 'not one' },
      { type: 'Progressing', status: 'True' },
    ];
    const state = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a.io/x'], generation: 3 };
    await say(reset, added(cart(5, { status: { phase: 'Odd', conditions } }, state)), synced);
    await clock.advance(60_000);
    const error = await outcome;
    expect(error.message).toBe(
      'Deployment shop/cart: waited 1m in vain until it flies; it was last seen with resourceVersion 5, generation 3, ' +
        'being deleted since 2026-01-01T00:00:00Z, held by a.io/x, phase Odd, Available=False (NoPods: not one), ' +
        'Progressing=True',
    );
    expect(error.last?.metadata.resourceVersion).toBe('5');
    expect([open(), clock.pending]).toEqual([0, 0]);
  });

  test('time is up: not there, or nothing heard', async () => {
    const absent = setUp();
    const first = failureOf(waitFor(absent.client, ConfigMap, key, isBig, { runtime: absent.runtime }));
    await absent.say(reset, synced);
    await absent.clock.advance(30_000);
    expect((await first).message).toBe(
      'ConfigMap shop/cart: waited 30s in vain until the predicate holds; it is not there',
    );
    const silent = setUp();
    const second = failureOf(waitFor(silent.client, ConfigMap, key, isBig, { runtime: silent.runtime }));
    await silent.clock.settle();
    const broken = new Error('no route');
    silent.retry(broken);
    await silent.clock.advance(30_000);
    expect((await second).message).toMatch(/nothing was heard of it from the server; the watch failed: .*no route/);
    expect((await second).cause).toBe(broken);
  });

  test('the signal, a refusal and what the predicate throws end it at once', async () => {
    const stop = new AbortController();
    const stopped = setUp();
    const first = waitFor(stopped.client, ConfigMap, key, isBig, { signal: stop.signal, runtime: stopped.runtime });
    first.catch(() => {});
    await stopped.clock.settle();
    const reason = new Shutdown();
    stop.abort(reason);
    await expect(first).rejects.toBe(reason);
    const refused = setUp();
    const second = waitFor(refused.client, ConfigMap, key, isBig, { runtime: refused.runtime });
    second.catch(() => {});
    await refused.clock.settle();
    await refused.fail(new Error('forbidden'));
    await expect(second).rejects.toThrow('forbidden');
    const thrown = setUp();
    const third = waitFor(
      thrown.client,
      ConfigMap,
      key,
      () => {
        throw new Error('a bug');
      },
      { runtime: thrown.runtime },
    );
    third.catch(() => {});
    await thrown.say(reset, synced);
    await expect(third).rejects.toThrow('a bug');
    for (const { clock, open } of [stopped, refused, thrown]) expect([open(), clock.pending]).toEqual([0, 0]);
  });
});

describe('waitForCondition', () => {
  const state = (status: string, observedGeneration?: number) =>
    cart(1, { status: { conditions: [{ type: 'Ready', status, observedGeneration }] } }, { generation: 2 });
  const wait = (options: WaitForOptions & { status?: 'False' } = {}) => {
    const given = setUp();
    let ended = false;
    const outcome = waitForCondition(given.client, Deployment, key, 'Ready', { ...options, runtime: given.runtime });
    void outcome.then(
      () => {
        ended = true;
      },
      () => {},
    );
    return { ...given, outcome, ended: () => ended };
  };

  test('holds for the present generation', async () => {
    const { say, ended } = wait();
    await say(reset, added(state('False')), synced, modified(state('True', 1)));
    expect(ended()).toBe(false);
    await say(modified(state('True', 2)));
    expect(ended()).toBe(true);
  });

  test('of another status, and without a generation', async () => {
    const { say, ended } = wait({ status: 'False' });
    await say(reset, synced, added(state('True')));
    expect(ended()).toBe(false);
    await say(modified(state('False')));
    expect(ended()).toBe(true);
  });

  test('names it in the error', async () => {
    const { clock, outcome } = wait({ timeout: '5s' });
    const failure = failureOf(outcome);
    await clock.advance(5_000);
    expect((await failure).message).toContain('waited 5s in vain until condition Ready is True;');
  });
});

test('waitForDeletion: with a uid, another object of that name will do', async () => {
  const { client, say, runtime } = setUp();
  let ended = false;
  const outcome = waitForDeletion(client, ConfigMap, { ...key, uid: 'u' }, { runtime }).then(() => {
    ended = true;
  });
  await say(reset, added(cart(1)), synced);
  expect(ended).toBe(false);
  await say(modified(cart(2, {}, { uid: 'v' })));
  await outcome;
});

test('a key without a namespace is refused: any namespace would do', async () => {
  const { client, runtime, open } = setUp();
  for (const bad of [{ name: 'cart' }, { namespace: 'shop' }]) {
    await expect(waitForDeletion(client, ConfigMap, bad as never, { runtime })).rejects.toThrow(
      'waitFor: the key of a ConfigMap must have a name and a namespace, got',
    );
  }
  const node = { name: 'n', namespace: 'shop' };
  await expect(waitFor(client, Node, node as never, () => true, { runtime })).rejects.toThrow(
    'waitFor: the key of a Node must have a name and no namespace, got {"name":"n","namespace":"shop"}',
  );
  expect(open()).toBe(0);
});
