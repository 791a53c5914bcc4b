import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ConfigMap, Deployment, Namespace, Pod } from '../../kinds/index.js';
import { and, concat, jsonPatch, not } from '../../object/cel/cel-functions.js';
import { defineKind } from '../../object/define-kind.js';
import { checkPolicies, policyManifests } from './check-policy.js';
import { policy } from './policy.js';

const registry = policy(Deployment, { name: 'own-registry' }).require(
  ({ object }) => object.spec.template.spec.containers.all((c) => c.image.startsWith('registry.example.com/')),
  { message: 'images come from registry.example.com' },
);
const deployment = (image: string, more: object = {}) =>
  Deployment({
    metadata: { namespace: 'shop', name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image }] },
      },
      ...more,
    },
  });

const Limits = defineKind({
  group: 'policies.example.com',
  version: 'v1',
  kind: 'Limit',
  spec: z.object({ max: z.int(), teams: z.array(z.string()).optional() }),
});
const limits = Limits({ metadata: { namespace: 'shop', name: 'limits' }, spec: { max: 3 } });

describe('the objects of a policy', () => {
  test('a validating policy and its binding', () => {
    expect(registry.objects).toEqual([
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: 'own-registry' },
        spec: {
          failurePolicy: 'Fail',
          matchConstraints: {
            resourceRules: [
              {
                apiGroups: ['apps'],
                apiVersions: ['v1'],
                operations: ['CREATE', 'UPDATE'],
                resources: ['deployments'],
              },
            ],
          },
          validations: [
            {
              expression: expect.stringContaining('.startsWith("registry.example.com/")'),
              message: 'images come from registry.example.com',
            },
          ],
        },
      },
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name: 'own-registry' },
        spec: { policyName: 'own-registry', validationActions: ['Deny'] },
      },
    ]);
  });

  test('every option', () => {
    const made = policy([Deployment], {
      name: 'all',
      actions: ['warn', 'audit'],
      operations: ['create', 'update', 'delete'],
      params: Limits,
      bindings: [
        { paramRef: { name: 'limits' }, namespaceSelector: { matchLabels: { env: 'prod' } } },
        {
          name: 'other',
          actions: ['deny'],
          paramRef: { selector: { matchLabels: { a: 'b' } }, namespace: 'x', notFound: 'allow' },
        },
      ],
      failurePolicy: 'ignore',
      matchPolicy: 'exact',
      objectSelector: { matchLabels: { c: 'd' } },
      excludeResourceRules: [{ apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments/status'] }],
      resourceNames: ['web'],
      reinvocationPolicy: 'ifNeeded',
      labels: { l: 'm' },
      annotations: { n: 'o' },
    })
      .matchCondition('not-paused', ({ object }) => not(object.spec.paused))
      .variable('replicas', ({ object }) => object.spec.replicas.orElse(1))
      .require(({ variables, params }) => variables.replicas.lte(params.spec.max), {
        messageExpression: ({ params }) => concat('at most ', params.spec.max.toText()),
        reason: 'Forbidden',
      })
      .auditAnnotation('user', ({ request }) => request.userInfo.username)
      .patch(({ params }) => [jsonPatch.add(['metadata', 'annotations'], { max: params.spec.max.toText() })])
      .mutate(() => ({ spec: { paused: true } }));
    const [validating, , , mutating, , other] = made.objects;
    expect(made.objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'ValidatingAdmissionPolicy all',
      'ValidatingAdmissionPolicyBinding all',
      'ValidatingAdmissionPolicyBinding other',
      'MutatingAdmissionPolicy all',
      'MutatingAdmissionPolicyBinding all',
      'MutatingAdmissionPolicyBinding other',
    ]);
    expect(validating).toMatchObject({
      metadata: { labels: { l: 'm' }, annotations: { n: 'o' } },
      spec: {
        failurePolicy: 'Ignore',
        paramKind: { apiVersion: 'policies.example.com/v1', kind: 'Limit' },
        matchConstraints: {
          matchPolicy: 'Exact',
          objectSelector: { matchLabels: { c: 'd' } },
          resourceRules: [{ operations: ['CREATE', 'UPDATE', 'DELETE'], resourceNames: ['web'] }],
          excludeResourceRules: [{ resources: ['deployments/status'] }],
        },
        matchConditions: [{ name: 'not-paused' }],
        variables: [
          {
            name: 'replicas',
            expression: 'object != null && object.?spec.?replicas.hasValue() ? object.spec.replicas : 1',
          },
        ],
        validations: [
          {
            expression: 'params.?spec.?max.hasValue() && variables.replicas <= params.spec.max',
            messageExpression: 'params.?spec.?max.hasValue() ? "at most " + string(params.spec.max) : ""',
            reason: 'Forbidden',
          },
        ],
        auditAnnotations: [
          {
            key: 'user',
            valueExpression: 'string(request.?userInfo.?username.hasValue() ? request.userInfo.username : "")',
          },
        ],
      },
    });
    expect(mutating).toMatchObject({
      spec: {
        reinvocationPolicy: 'IfNeeded',
        matchConstraints: { resourceRules: [{ operations: ['CREATE', 'UPDATE'] }] },
        mutations: [
          {
            patchType: 'JSONPatch',
            jsonPatch: {
              expression:
                '[JSONPatch{op: "add", path: "/metadata/annotations", value: {"max": string(params.spec.max)}}]',
            },
          },
          {
            patchType: 'ApplyConfiguration',
            applyConfiguration: { expression: 'Object{spec: Object.spec{paused: true}}' },
          },
        ],
      },
    });
    expect(other).toMatchObject({
      spec: {
        policyName: 'all',
        paramRef: { selector: { matchLabels: { a: 'b' } }, namespace: 'x', parameterNotFoundAction: 'Allow' },
      },
    });
    expect(other?.spec).not.toHaveProperty('validationActions');
  });

  test.each<[string, () => unknown, RegExp]>([
    ['no name', () => policy(Pod, { name: '' }), /requires a name/],
    ['an unknown option', () => policy(Pod, { name: 'a', action: [] } as never), /unknown option "action".*"actions"/],
    ['deny and warn', () => policy(Pod, { name: 'a', actions: ['deny', 'warn'] }), /both "deny" and "warn"/],
    ['an unknown operation', () => policy(Pod, { name: 'a', operations: ['patch'] as never }), /got "patch"/],
    ['params without a reference', () => policy(Pod, { name: 'a', params: Limits }), /requires a paramRef/],
    ['a reference without params', () => policy(Pod, { name: 'a', paramRef: { name: 'x' } }), /requires params/],
    [
      'a reference to nothing',
      () => policy(Pod, { name: 'a', params: Limits, paramRef: {} }),
      /either name or selector/,
    ],
    ['no bindings', () => policy(Pod, { name: 'a', bindings: [] }), /must not be empty/],
    ['no kinds', () => policy([], { name: 'a' }), /requires a kind/],
    ['nothing to do', () => policy(Pod, { name: 'a' }).objects, /does nothing/],
    [
      'two variables of one name',
      () =>
        policy(Pod, { name: 'a' })
          .variable('x', ({ object }) => object.metadata.name)
          .variable('x', ({ object }) => object.metadata.name),
      /duplicate variable "x"/,
    ],
    [
      'a message of two lines',
      () => registry.require(({ object }) => object.spec.paused, { message: 'a\nb' }),
      /one line/,
    ],
    [
      'what cannot be compiled',
      () => policy(Pod, { name: 'a' }).require(({ object }) => (object.metadata.name === ('x' as never)) as never),
      /policy "a": require 1: the function returned a plain boolean/,
    ],
  ])('%s is refused', (_, make, message) => expect(make).toThrow(message));
});

describe('check', () => {
  test('finds violations, without a cluster', async () => {
    expect(await registry.check(deployment('registry.example.com/web:1'))).toEqual([]);
    expect(await registry.check(deployment('docker.io/web:1'))).toEqual([
      {
        policy: 'own-registry',
        binding: 'own-registry',
        message: 'images come from registry.example.com',
        reason: 'Invalid',
        actions: ['deny'],
      },
    ]);
  });

  test('finds all violations, and those that only warn', async () => {
    const strict = policy(Deployment, { name: 'strict', actions: ['warn'] })
      .require(({ object }) => object.spec.replicas.lte(3), { message: 'too many' })
      .require(({ object }) => object.metadata.labels.has('team'), { message: 'no team', reason: 'Forbidden' });
    expect(await strict.check(deployment('a', { replicas: 9 }))).toMatchObject([
      { message: 'too many', reason: 'Invalid', actions: ['warn'] },
      { message: 'no team', reason: 'Forbidden' },
    ]);
    // The server's default: one replica.
    expect(await strict.check(deployment('a'))).toMatchObject([{ message: 'no team' }]);
  });

  test('updates and deletions', async () => {
    const fixed = policy(Deployment, { name: 'fixed', operations: ['update', 'delete'] }).require(
      ({ object, old }) =>
        and(object.has(), object.metadata.labels.get('team').equals(old.metadata.labels.get('team'))),
      { message: 'team is immutable' },
    );
    const [mine, yours] = ['a', 'b'].map((team) => ({
      ...deployment('x'),
      metadata: { namespace: 'shop', name: 'web', labels: { team } },
    })) as [object, object];
    expect(await fixed.check(mine)).toEqual([]);
    expect(await fixed.check(mine, { old: mine })).toEqual([]);
    expect(await fixed.check(deployment('x'), { old: deployment('y') })).toEqual([]);
    expect(await fixed.check(mine, { old: yours })).toHaveLength(1);
    expect(await fixed.check(mine, { operation: 'delete' })).toHaveLength(1);
  });

  test('params, namespaces, users', async () => {
    const guarded = policy(Deployment, {
      name: 'guarded',
      params: Limits,
      paramRef: { name: 'limits' },
      namespaceSelector: { matchLabels: { env: 'prod' } },
    }).require(
      ({ object, params, request }) =>
        object.spec.replicas.lte(params.spec.max).or(request.userInfo.groups.includes('admins')),
      { messageExpression: ({ params }) => concat('at most ', params.spec.max.toText(), ' replicas') },
    );
    const large = deployment('a', { replicas: 9 });
    const namespace = Namespace({ metadata: { name: 'shop', labels: { env: 'prod' } } });
    expect(await guarded.check(large, { params: limits })).toEqual([]);
    expect(await guarded.check(large, { params: limits, namespace })).toMatchObject([
      { message: 'at most 3 replicas' },
    ]);
    expect(
      await guarded.check(large, { params: [limits], namespace, user: { username: 'eve', groups: ['admins'] } }),
    ).toEqual([]);
    expect(await guarded.check(large, { namespace })).toMatchObject([
      { message: expect.stringContaining('no params found for policy binding with `Deny` parameterNotFoundAction') },
    ]);
  });

  test('the authorizer', async () => {
    const trusted = policy(ConfigMap, { name: 'trusted' }).require(
      ({ authorizer }) => authorizer.group('').resource('secrets').namespace('shop').check('get').allowed(),
      { message: 'may not read secrets', reason: 'Forbidden' },
    );
    const object = ConfigMap({ metadata: { namespace: 'shop', name: 'a' } });
    const user = { username: 'eve' };
    expect(await trusted.check(object)).toEqual([]);
    expect(await trusted.check(object, { user })).toMatchObject([{ message: 'may not read secrets' }]);
    expect(
      await trusted.check(object, { user, allows: ({ verb, resource }) => `${verb} ${resource}` === 'get secrets' }),
    ).toEqual([]);
  });

  test('mutations come first', async () => {
    const filled = policy(Deployment, { name: 'filled' })
      .mutate(({ object }) => ({
        metadata: { labels: { 'example.com/name': object.metadata.name } },
        spec: { replicas: 2 },
      }))
      .require(({ object }) => object.spec.replicas.equals(2))
      .auditAnnotation('name', ({ object }) => object.metadata.name);
    const { object, violations, auditAnnotations } = await filled.preview(deployment('a', { replicas: 9 }));
    expect(violations).toEqual([]);
    expect(object).toMatchObject({ metadata: { labels: { 'example.com/name': 'web' } }, spec: { replicas: 2 } });
    expect(auditAnnotations).toEqual({ 'filled/name': 'web' });
  });

  test('unknown options are refused', async () => {
    await expect(registry.check(deployment('a'), { olds: {} } as never)).rejects.toThrow(
      /unknown option "olds".*"old"/,
    );
  });
});

describe('manifests', () => {
  test('are checked and costed', async () => {
    expect(await policyManifests(registry)).toEqual(registry.objects);
    const [report] = await checkPolicies(registry);
    expect(report).toMatchObject({
      policy: 'own-registry',
      path: 'spec.validations[0].expression',
      kind: 'apps/v1, Kind=Deployment',
      problem: undefined,
      limit: 1_000_000,
    });
    expect(report?.cost?.min).toBeGreaterThan(0);
    expect(report?.cost?.max).toBeGreaterThan(report?.cost?.min ?? 0);
  });

  test('name every expression whose types do not fit', async () => {
    const wrong = policy(Deployment, { name: 'wrong' })
      .require(({ object }) => (object.spec as unknown as { replcas: typeof object.spec.replicas }).replcas.gt(1))
      .require(({ object }) => object.spec.replicas.equals('1' as never));
    await expect(policyManifests(wrong)).rejects.toThrow(
      /policy "wrong", spec\.validations\[0\]\.expression \(apps\/v1, Kind=Deployment\).*undefined field 'replcas'[\s\S]*validations\[1\][\s\S]*no matching overload for '_==_'/,
    );
  });
});
