import { VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { followOperator } from './follow-operator.js';
import type { OperatorEndpoints } from './open-endpoints.js';
import type { OperatorEndpoint } from './operator-endpoint.js';
import { until } from './running-operator.fixture.js';

/** A replica that sends its state, and then nothing until it is ended. */
function replicaOf(name: string) {
  let ended = new AbortController();
  const state = { process: { riata: name }, controllers: [], caches: [], clusters: [], webhooks: [] };
  const data = JSON.stringify({ version: 1, at: 0, state, reconciles: [], webhookCalls: [] });
  let problem: string | undefined;
  const endpoint: OperatorEndpoint = {
    name,
    get: async () => undefined as never,
    async stream(_, { signal }) {
      if (problem !== undefined) throw new Error(problem);
      const over = AbortSignal.any([signal, ended.signal]);
      return (async function* () {
        yield new TextEncoder().encode(`event: snapshot\ndata: ${data}\n\n`);
        if (over.aborted) return;
        await new Promise<void>((resolve) => over.addEventListener('abort', () => resolve(), { once: true }));
      })();
    },
    [Symbol.asyncDispose]: async () => ended.abort(),
  };
  return {
    endpoint,
    fail: (why: string | undefined) => {
      problem = why;
      if (why === undefined) ended = new AbortController();
      else ended.abort();
    },
  };
}

function operatorOf(first: readonly OperatorEndpoint[]) {
  let [all, problem]: [readonly OperatorEndpoint[], string | undefined] = [first, undefined];
  let next: readonly OperatorEndpoint[] = first;
  const endpoints: OperatorEndpoints = {
    name: 'sites',
    get all() {
      return all;
    },
    async refresh() {
      if (problem !== undefined) throw new Error(problem);
      const gone = all.filter((each) => !next.includes(each));
      all = next;
      await Promise.all(gone.map((each) => each[Symbol.asyncDispose]()));
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const run = (pods: readonly OperatorEndpoint[] | string) => {
    problem = typeof pods === 'string' ? pods : undefined;
    if (typeof pods !== 'string') next = pods;
  };
  return { endpoints, run };
}

test('Pods that replace others are followed; while none runs, the last state stays, with the reason', async () => {
  const clock = new VirtualClock();
  const [old, other, fresh] = [replicaOf('old'), replicaOf('other'), replicaOf('fresh')];
  const { endpoints, run } = operatorOf([old.endpoint, other.endpoint]);
  await using followed = await followOperator(endpoints, { clock, signal: new AbortController().signal });
  const shown = () => followed.replicas.map(({ state }) => state?.process.riata).join(' ');
  expect(shown()).toBe('old other');
  run('Deployment a/sites has no running Pod');
  old.fail('gone');
  other.fail('gone');
  await clock.advance(5_000);
  expect(shown()).toBe('old other');
  expect(followed.trouble()).toBe('gone');
  fresh.fail('not ready yet');
  run([fresh.endpoint]);
  await clock.advance(1_000);
  expect([shown(), followed.trouble()]).toEqual(['old other', 'not ready yet']);
  fresh.fail(undefined);
  await clock.advance(1_000);
  await until(() => (shown() === 'fresh' ? true : undefined));
  expect(followed.trouble()).toBeUndefined();
});

test('rejects if a replica cannot be read at first', async () => {
  const bad = replicaOf('bad');
  bad.fail('forbidden');
  const { endpoints } = operatorOf([replicaOf('good').endpoint, bad.endpoint]);
  const options = { clock: new VirtualClock(), signal: new AbortController().signal };
  await expect(followOperator(endpoints, options)).rejects.toThrow('forbidden');
});
