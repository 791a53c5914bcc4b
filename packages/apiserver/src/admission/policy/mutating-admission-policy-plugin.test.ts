import { ApiServer } from '@riata/apiserver';
import { createClient } from 'riata';
import { ConfigMap, MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, Namespace } from 'riata/kinds';
import { expect, test } from 'vitest';

const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] };
const policy = (name: string, expression: string, more: object = {}) => [
  MutatingAdmissionPolicy({
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
      ...more,
    },
  }),
  MutatingAdmissionPolicyBinding({ metadata: { name }, spec: { policyName: name } }),
];
const metadata = { namespace: 'default', name: 'a' };

async function withPolicies(...policies: readonly ReturnType<typeof policy>[]) {
  const server = await ApiServer.start();
  const client = createClient(server.config);
  for (const object of policies.flat()) await client.create(object as ReturnType<typeof MutatingAdmissionPolicy>);
  return {
    client,
    async [Symbol.asyncDispose]() {
      await client.close();
      await server.stop();
    },
  };
}

test('changes objects, and its fields have no manager', async () => {
  await using it = await withPolicies(policy('p', 'Object{data: {"added": "yes"}}'));
  const { metadata: meta, data } = await it.client.create(ConfigMap({ metadata, data: { a: 'b' } }));
  expect(data).toEqual({ a: 'b', added: 'yes' });
  expect(JSON.stringify(meta.managedFields)).toContain('f:a');
  expect(JSON.stringify(meta.managedFields)).not.toContain('f:added');
});

test('runs again after a later policy if reinvocation is enabled', async () => {
  const seen = (key: string) => `Object{data: {"${key}": has(object.data.z) ? "after" : "before"}}`;
  await using it = await withPolicies(
    policy('a', seen('a'), { reinvocationPolicy: 'IfNeeded' }),
    policy('b', seen('b')),
    policy('c', 'Object{data: {"z": "z"}}'),
  );
  const { data } = await it.client.create(ConfigMap({ metadata, data: { y: 'y' } }));
  expect(data).toEqual({ y: 'y', a: 'after', b: 'before', z: 'z' });
});

test('refuses the request if a mutation fails, unless failures are ignored', async () => {
  await using it = await withPolicies(policy('p', 'Object{data: {"x": object.data.nothing}}'));
  await expect(it.client.create(ConfigMap({ metadata, data: {} }))).rejects.toThrow(
    "policy 'p' with binding 'p' denied request: expression 'Object{data: {\"x\": object.data.nothing}}' resulted in error: no such key:",
  );
  const ignored = policy('p', 'Object{data: {"x": object.data.nothing}}', { failurePolicy: 'Ignore' });
  await using other = await withPolicies(ignored);
  await other.client.create(ConfigMap({ metadata, data: { c: 'd' } }));
});

test('treats a Namespace as cluster-scoped', async () => {
  const resourceRules = [{ ...rule, resources: ['namespaces'] }];
  await using it = await withPolicies(
    policy('p', 'Object{metadata: Object.metadata{labels: {"none": string(namespaceObject == null)}}}', {
      matchConstraints: { resourceRules },
    }),
  );
  const { metadata: meta } = await it.client.create(Namespace({ metadata: { name: 'n' } }));
  expect(meta.labels?.none).toBe('true');
});
