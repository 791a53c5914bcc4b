import { ConfigMap } from 'riata/kinds';
import { expect, test } from 'vitest';
import { MadeObjects } from './made-objects.js';
import { TestEnvironment } from './test-environment.js';
import { inDefault } from './widget.fixture.js';

const made = { apiVersion: 'v1', kind: 'ConfigMap', ...inDefault('a') };

async function removing(hasGone: boolean, times?: number) {
  const env = await TestEnvironment.start({ server: 'in-process' });
  await env.client.create(ConfigMap({ metadata: { ...inDefault('a'), finalizers: ['example.com/never'] } }));
  const fail = { code: 500, reason: 'InternalError' };
  const rule = env.faults.add({ verb: 'delete' }, { fail }, { ...(times !== undefined && { times }) });
  const { client } = env.connect();
  const objects = new MadeObjects();
  objects.add(made);
  const server = { hasGone, emptiesNamespaces: true, clock: env.clock, idle: async () => {} };
  const removed = objects.remove(client, server).then(
    () => 'removed',
    (error: Error) => error.message,
  );
  await env.advance('1h');
  return { env, rule, outcome: await removed };
}

test('what cannot be removed now is tried again', async () => {
  const { env, rule, outcome } = await removing(false, 2);
  expect([outcome, rule.hits]).toEqual(['removed', 2]);
  expect(await env.client.find(ConfigMap, inDefault('a'))).toBe(undefined);
  await env.stop();
});

test('what can never be removed is named, with the reason', async () => {
  const { env, outcome } = await removing(false);
  expect(outcome).toContain('reset: these objects could not be removed: ConfigMap default/a: ApiError: DELETE ');
  expect(outcome).toContain('a fault made on purpose: 500');
  expect(await env.client.find(ConfigMap, inDefault('a'))).toBeDefined();
  await env.stop();
});

test('what is not known to be gone after some rounds is named', async () => {
  const { env, outcome } = await removing(true, 0);
  expect(outcome).toBe('reset: these objects could not be removed: ConfigMap default/a');
  await env.stop();
});
