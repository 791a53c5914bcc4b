import { ConfigMap, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from 'riata/kinds';
import { describe, expect, test } from 'vitest';
import { checkDefinition, checkPolicy, evaluatePolicies } from './index.js';

const matchConstraints = {
  resourceRules: [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['configmaps'] },
  ],
};
const policyOf = (spec: object) =>
  ValidatingAdmissionPolicy({ metadata: { name: 'p' }, spec: { matchConstraints, ...spec } });
const bindingOf = (validationActions: readonly string[], name = 'p') =>
  ValidatingAdmissionPolicyBinding({ metadata: { name }, spec: { policyName: 'p', validationActions } });
const object = ConfigMap({ metadata: { namespace: 'default', name: 'a' }, data: { key: 'value' } });

describe('evaluatePolicies', () => {
  test('finds every violation of every binding', async () => {
    const validations = [
      { expression: 'object.data.size() > 1', message: 'small' },
      { expression: 'true' },
      { expression: "object.data.key == 'x'", reason: 'Forbidden' },
    ];
    const policies = [policyOf({ validations }), bindingOf(['Warn', 'Audit'], 'b'), bindingOf(['Deny'])];
    const { violations } = await evaluatePolicies({ policies, object });
    expect(violations).toEqual([
      { policy: 'p', binding: 'b', message: 'small', reason: 'Invalid', actions: ['Warn', 'Audit'], index: 0 },
      {
        ...{ policy: 'p', binding: 'b', message: "failed expression: object.data.key == 'x'", reason: 'Forbidden' },
        ...{ actions: ['Warn', 'Audit'], index: 2 },
      },
      expect.objectContaining({ binding: 'p', actions: ['Deny'], index: 0 }),
      expect.objectContaining({ binding: 'p', actions: ['Deny'], index: 2 }),
    ]);
  });

  test('a deletion has an old object only', async () => {
    const validations = [
      { expression: "object == null && request.operation == 'DELETE' && oldObject.data.key == 'x'" },
    ];
    const policies = [policyOf({ validations }), bindingOf(['Deny'])];
    expect((await evaluatePolicies({ policies, old: object })).violations).toHaveLength(1);
    const old = { ...object, data: { key: 'x' } };
    expect((await evaluatePolicies({ policies, old })).violations).toEqual([]);
    await expect(evaluatePolicies({ policies })).rejects.toThrow('requires an object');
  });

  test('expressions that fail are violations, unless they are to be ignored', async () => {
    const validations = [{ expression: 'object.none == 1' }];
    const [failing, ignored] = ['Fail', 'Ignore'].map((failurePolicy) => policyOf({ validations, failurePolicy }));
    const run = (policy: object) => evaluatePolicies({ policies: [policy, bindingOf(['Deny'])], object });
    expect((await run(failing as object)).violations).toMatchObject([
      { message: "expression 'object.none == 1' resulted in error: no such key: none" },
    ]);
    expect((await run(ignored as object)).violations).toEqual([]);
  });

  test('a kind that is not served', async () => {
    const other = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } };
    await expect(evaluatePolicies({ policies: [], object: other })).rejects.toThrow(
      'kind "Thing" of "example.com/v1" is not known; give its CustomResourceDefinition',
    );
  });
});

test('checkPolicy names expressions, problems and costs', async () => {
  const reports = await checkPolicy(
    policyOf({
      variables: [{ name: 'n', expression: 'object.data.size()' }],
      validations: [
        { expression: 'variables.n > 1', messageExpression: '1' },
        { expression: 'object.dta.size() > 1' },
        { expression: 'lists.range(2000000).all(i, true)' },
      ],
      auditAnnotations: [{ key: 'k', valueExpression: 'object.metadata.name' }],
    }),
  );
  expect(reports.map(({ path, problem }) => [path, problem?.split('\n')[0]])).toEqual([
    ['spec.variables[0].expression', undefined],
    ['spec.validations[0].expression', undefined],
    ['spec.validations[0].messageExpression', 'must evaluate to string but got int'],
    ['spec.validations[1].expression', "compilation failed: ERROR: <input>:1:7: undefined field 'dta'"],
    ['spec.validations[2].expression', 'costs at least 8000012, and the server stops at 1000000'],
    ['spec.auditAnnotations[0].valueExpression', 'must evaluate to one of [string null_type] but got dyn'],
  ]);
  expect(reports[1]).toMatchObject({ kind: 'v1, Kind=ConfigMap', limit: 1_000_000, cost: { min: expect.any(Number) } });
});

test('checkDefinition finds rules that a server refuses', () => {
  const schema = {
    type: 'object',
    properties: { spec: { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.none' }] } },
  };
  const definition = { spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: schema } }] } };
  expect(checkDefinition(definition)).toEqual([
    {
      version: 'v1',
      path: 'spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule',
      message: expect.stringContaining("undefined field 'none'"),
    },
  ]);
});
