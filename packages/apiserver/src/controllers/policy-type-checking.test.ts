import { ApiServer } from '@riata/apiserver';
import { createClient } from 'riata';
import { ValidatingAdmissionPolicy } from 'riata/kinds';
import { expect, test } from 'vitest';

const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] };
const policy = (expression: string) =>
  ValidatingAdmissionPolicy({
    metadata: { name: 'p' },
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression }] },
  });

test('the status of a policy lists mistyped expressions, for each generation', async () => {
  await using server = await ApiServer.start();
  await using client = createClient(server.config);
  await client.create(policy('object.spec.replica > 1'));
  await server.idle();
  const warned = await client.get(ValidatingAdmissionPolicy, { name: 'p' });
  expect(warned.status).toEqual({
    observedGeneration: 1,
    typeChecking: {
      expressionWarnings: [
        {
          fieldRef: 'spec.validations[0].expression',
          warning:
            "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replica'\n | object.spec.replica > 1\n | ...........^\n",
        },
      ],
    },
  });
  await client.apply(policy('object.spec.replicas > 1'), { fieldManager: 'test', force: true });
  await server.idle();
  const { status } = await client.get(ValidatingAdmissionPolicy, { name: 'p' });
  expect(status).toEqual({ observedGeneration: 2 });
});
