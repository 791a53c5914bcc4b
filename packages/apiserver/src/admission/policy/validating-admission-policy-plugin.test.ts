import { ApiServer } from '@riata/apiserver';
import { createClient } from 'riata';
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from 'riata/kinds';
import type { JsonObject } from 'riata/object';
import { VirtualClock } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { atOnce } from '../../steps.js';
import { MemoryStorage } from '../../storage/memory-storage.js';
import type { AdmissionAttributes } from '../admission.js';
import type { AdmissionParts } from '../admission-parts.js';
import { ValidatingAdmissionPolicyPlugin } from './validating-admission-policy-plugin.js';

const matchConstraints = {
  resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
};
const policyOf = (name: string, spec: object) =>
  ValidatingAdmissionPolicy({ metadata: { name }, spec: { matchConstraints, ...spec } });
const bindingOf = (name: string) =>
  ValidatingAdmissionPolicyBinding({ metadata: { name }, spec: { policyName: name, validationActions: ['Deny'] } });
const made = (name: string, data: Readonly<Record<string, string>> = {}) =>
  ConfigMap({ metadata: { namespace: 'default', name }, data });

describe('on a server', () => {
  test('enforces a policy from the next request on, until it is deleted', async () => {
    await using server = await ApiServer.start();
    await using client = createClient(server.config);
    await client.create(policyOf('small', { validations: [{ expression: 'object.data.size() < 2' }] }));
    await client.create(made('before', { a: '1', b: '2' }));
    await client.create(bindingOf('small'));
    const refused = client.create(made('large', { a: '1', b: '2' }));
    await expect(refused).rejects.toMatchObject({
      message: expect.stringContaining(
        "ValidatingAdmissionPolicy 'small' with binding 'small' denied request: failed expression: object.data.size() < 2",
      ),
    });
    await client.create(made('little', { a: '1' }));
    await client.delete(ValidatingAdmissionPolicy, { name: 'small' });
    await client.create(made('large', { a: '1', b: '2' }));
  });

  test('authorizer checks the user of the request', async () => {
    await using server = await ApiServer.start();
    await using admin = createClient(server.config);
    const expression = "authorizer.group('').resource('secrets').namespace('default').check('get').allowed()";
    await admin.create(policyOf('trusted', { validations: [{ expression, reason: 'Forbidden' }] }));
    await admin.create(bindingOf('trusted'));
    await admin.create(made('mine'));
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }];
    await admin.create(ClusterRole({ metadata: { name: 'writer' }, rules }));
    await admin.create(
      ClusterRoleBinding({
        metadata: { name: 'writer' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'writer' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }],
      }),
    );
    await using eve = createClient(server.as({ user: 'eve' }).config);
    await expect(eve.create(made('hers'))).rejects.toThrow(
      "ValidatingAdmissionPolicy 'trusted' with binding 'trusted'",
    );
  });

  test('refuses params that the writer may not read', async () => {
    await using server = await ApiServer.start();
    await using admin = createClient(server.config);
    const rules = [{ apiGroups: ['*'], resources: ['validatingadmissionpolicies'], verbs: ['create'] }];
    await admin.create(ClusterRole({ metadata: { name: 'author' }, rules }));
    await admin.create(
      ClusterRoleBinding({
        metadata: { name: 'author' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'author' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }],
      }),
    );
    await using eve = createClient(server.as({ user: 'eve' }).config);
    const validations = [{ expression: 'params == null' }];
    const paramKind = { apiVersion: 'v1', kind: 'Secret' };
    await expect(eve.create(policyOf('spy', { paramKind, validations }))).rejects.toThrow(
      'must have "get" permission on all objects of the referenced paramKind (kind=Secret, apiVersion=v1)',
    );
    await eve.create(policyOf('fair', { validations: [{ expression: 'true' }] }));
  });

  test('does nothing when it is disabled', async () => {
    await using server = await ApiServer.start({ admission: { disable: ['ValidatingAdmissionPolicy'] } });
    await using client = createClient(server.config);
    await client.create(policyOf('none', { validations: [{ expression: 'false' }] }));
    await client.create(bindingOf('none'));
    await client.create(made('a'));
  });
});

describe('audit annotations', () => {
  const resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', table: '/configmaps' };
  const run = (spec: JsonObject, validationActions: readonly string[] = ['Audit']) => {
    const storage = new MemoryStorage({ clock: new VirtualClock() });
    const put = (table: string, object: JsonObject) =>
      storage.put(`admissionregistration.k8s.io/${table}`, 'p', () => object as never);
    const rules = { ...matchConstraints, namespaceSelector: {}, objectSelector: {} };
    put('validatingadmissionpolicies', {
      metadata: { name: 'p' },
      spec: { matchConstraints: rules, ...spec } as never,
    });
    put('validatingadmissionpolicybindings', {
      metadata: { name: 'p' },
      spec: { policyName: 'p', validationActions: [...validationActions] },
    });
    const annotations: Record<string, string> = {};
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } };
    const attributes = {
      ...{ operation: 'CREATE', resource, kind: resource, subresource: '', namespace: '', name: 'x', object },
      ...{ options: {}, dryRun: false, user: { username: 'u' }, warn: () => {} },
      annotate: (key: string, value: string) => {
        annotations[key] = value;
      },
    } as unknown as AdmissionAttributes;
    const plugin = new ValidatingAdmissionPolicyPlugin({ storage } as unknown as AdmissionParts);
    expect(plugin.handles(attributes)).toBe(true);
    atOnce(plugin.validate(attributes));
    return annotations;
  };

  test('contain the results of expressions', () => {
    const auditAnnotations = [
      { key: 'name', valueExpression: '" " + object.metadata.name' },
      { key: 'none', valueExpression: 'null' },
      { key: 'empty', valueExpression: '" "' },
      { key: 'long', valueExpression: '[1,2,3,4,5,6,7,8,9,10,11].map(i, "y").join("")' },
    ];
    expect(run({ auditAnnotations })).toEqual({ 'p/name': 'x', 'p/long': 'y'.repeat(11) });
  });

  test('contain failed validations', () => {
    const validations = [{ expression: 'true' }, { expression: 'false', message: 'no' }];
    const [failure] = JSON.parse(
      run({ validations })['validation.policy.admission.k8s.io/validation_failure'] ?? '[]',
    ) as unknown[];
    expect(failure).toEqual({
      ...{ message: 'no', policy: 'p', binding: 'p', expressionIndex: 1, validationActions: ['Audit'] },
    });
  });
});
