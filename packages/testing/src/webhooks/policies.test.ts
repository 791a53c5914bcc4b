import { ConfigMap, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from 'riata/kinds';
import { policy } from 'riata/webhook';
import { expect, test } from 'vitest';
import { TestEnvironment } from '../test-environment.js';

const small = policy(ConfigMap, { name: 'small' }).require(({ object }) => object.data.size().lt(2), {
  message: 'one entry at most',
});

const failures = [
  ['whose answer is lost', { cut: 'answer' }],
  ['that never arrives', { cut: 'request' }],
  ['that an overloaded server refuses', { fail: { code: 503, reason: 'ServiceUnavailable' } }],
] as const;

test.each(failures)('a write of a policy %s is retried, and the manager keeps running', async (_, fault) => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  const lost = env.faults.add({ verb: 'patch', kind: ValidatingAdmissionPolicy }, fault, { times: 1 });
  const second = env.faults.add({ verb: 'patch', kind: ValidatingAdmissionPolicyBinding }, fault, { times: 1 });
  const manager = await env.run(small);
  await env.eventually(() => env.client.get(ValidatingAdmissionPolicyBinding, { name: 'small' }));
  await env.advance('1m');
  expect([lost.hits, second.hits]).toEqual([1, 1]);
  expect(manager.exit).toBeUndefined();
  const large = ConfigMap({ metadata: { namespace: 'default', name: 'large' }, data: { a: '1', b: '2' } });
  await expect(env.client.create(large)).rejects.toThrow('one entry at most');
});

test('a policy that the server refuses ends the manager', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  env.faults.add({ verb: 'patch' }, { fail: { code: 403, reason: 'Forbidden' } });
  const manager = await env.run(small);
  expect(await manager.ended).toMatchObject({ reason: 'failed', runnable: 'policy small' });
});
