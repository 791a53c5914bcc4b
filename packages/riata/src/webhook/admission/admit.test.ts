import { describe, expect, test } from 'vitest';
import { Deployment, Pod, StatefulSet } from '../../kinds/index.js';
import type { WebhookDefinition } from '../webhook-definition.js';
import { answered, Site, site, WebhookPlay } from './admission.fixture.js';
import { admit } from './admit.js';

const [mutate, validate] = ['/mutate-example-com-v1-site', '/validate-example-com-v1-site'];

const siteRules = admit(Site)
  .mutates((draft) => {
    draft.spec.zone ??= 'a';
  })
  .validates(({ object, old, deny, warn, path }) => {
    if (old && old.spec.zone !== object.spec.zone) deny(path.spec.zone, 'is immutable');
    if (object.spec.replicas > 10) warn('more than 10 replicas cost money');
  })
  .validates({ on: ['delete'], timeout: '5s', failurePolicy: 'fail' }, ({ old, user, deny }) => {
    if (old.spec.replicas > 0 && user.name !== 'ann') deny(`${user.name} cannot delete a running site`);
  });

describe('the example of the guide', () => {
  test('a mutation is sent as a patch of what changed', async () => {
    const play = new WebhookPlay(siteRules);
    const response = await play.review(mutate, { object: site({ replicas: 1, unknown: { kept: true } }) });
    expect(response).toMatchObject({ uid: 'u-1', allowed: true, patchType: 'JSONPatch' });
    expect(response.patch).toEqual([{ op: 'add', path: '/spec/zone', value: 'a' }]);
    const unchanged = await play.review(mutate, { object: site({ replicas: 1, zone: 'b' }) });
    expect(unchanged).toMatchObject({ allowed: true, patch: undefined, patchType: undefined });
  });

  test('a denial names the field, as Kubernetes words it', async () => {
    const play = new WebhookPlay(siteRules);
    const [object, oldObject] = [site({ replicas: 11, zone: 'b' }), site({ replicas: 1, zone: 'a' })];
    const response = await play.review(validate, { operation: 'UPDATE', object, oldObject });
    expect(response.allowed).toBe(false);
    expect(response.status).toEqual({
      metadata: {},
      status: 'Failure',
      code: 422,
      reason: 'Invalid',
      message: 'Site.example.com "one" is invalid: spec.zone: Invalid value: "b": is immutable',
      details: {
        name: 'one',
        group: 'example.com',
        kind: 'Site',
        causes: [{ reason: 'FieldValueInvalid', message: 'Invalid value: "b": is immutable', field: 'spec.zone' }],
      },
    });
    expect(response.warnings).toEqual(['more than 10 replicas cost money']);
  });

  test('a delete has the old object alone', async () => {
    const play = new WebhookPlay(siteRules);
    const request = { operation: 'DELETE', object: null, oldObject: site(), userInfo: { username: 'bob' } };
    const response = await play.review(`${validate}-2`, request);
    expect(response.status).toMatchObject({ code: 403, message: 'bob cannot delete a running site' });
    expect((await play.review(`${validate}-2`, { ...request, userInfo: { username: 'ann' } })).allowed).toBe(true);
  });

  test('its configuration', () => {
    expect(siteRules.name).toBe('site');
    expect(siteRules.targets).toEqual([
      {
        type: 'mutating',
        path: mutate,
        webhook: {
          name: 'mutate.site.example.com',
          rules: [rule(['CREATE', 'UPDATE'])],
          failurePolicy: 'Fail',
          matchPolicy: 'Equivalent',
          sideEffects: 'None',
          timeoutSeconds: 10,
          admissionReviewVersions: ['v1'],
          reinvocationPolicy: 'Never',
        },
      },
      {
        type: 'validating',
        path: validate,
        webhook: expect.objectContaining({ name: 'validate.site.example.com', rules: [rule(['CREATE', 'UPDATE'])] }),
      },
      {
        type: 'validating',
        path: `${validate}-2`,
        webhook: expect.objectContaining({
          name: 'validate-2.site.example.com',
          rules: [rule(['DELETE'])],
          timeoutSeconds: 5,
        }),
      },
    ]);
  });
});

function rule(operations: readonly string[], resources = ['sites']): object {
  return { apiGroups: ['example.com'], apiVersions: ['v1'], resources, operations, scope: '*' };
}

describe('the configuration of a definition', () => {
  test('has every field', () => {
    const [target] = admit(Site, {
      failurePolicy: 'ignore',
      matchPolicy: 'exact',
      namespaceSelector: { matchLabels: { team: 'a' } },
      admissionReviewVersions: ['v1', 'v1beta1'],
    }).mutates(
      {
        timeout: '3s',
        sideEffects: 'noneOnDryRun',
        objectSelector: { matchLabels: { guarded: 'yes' } },
        matchConditions: { 'not-nodes': "!('system:nodes' in request.userInfo.groups)" },
        reinvocationPolicy: 'ifNeeded',
        scope: 'namespaced',
        on: ['create'],
        path: '/sites/defaults',
        name: 'defaults',
      },
      () => {},
    ).targets;
    expect(target).toEqual({
      type: 'mutating',
      path: '/sites/defaults',
      webhook: {
        name: 'mutate-defaults.site.example.com',
        rules: [{ ...rule(['CREATE']), scope: 'Namespaced' }],
        failurePolicy: 'Ignore',
        matchPolicy: 'Exact',
        sideEffects: 'NoneOnDryRun',
        timeoutSeconds: 3,
        admissionReviewVersions: ['v1', 'v1beta1'],
        reinvocationPolicy: 'IfNeeded',
        namespaceSelector: { matchLabels: { team: 'a' } },
        objectSelector: { matchLabels: { guarded: 'yes' } },
        matchConditions: [{ name: 'not-nodes', expression: "!('system:nodes' in request.userInfo.groups)" }],
      },
    });
  });

  test('has one entry for handlers with the same options, and names for others', () => {
    const none = () => {};
    const rules = admit(Site, { name: 'guard', reinvocationPolicy: 'ifNeeded' })
      .validates(none)
      .validates({ on: ['delete'] }, none)
      .validates({ on: ['update'], subresource: 'status' }, none)
      .validates({ timeout: '1s' }, none)
      .validates({ name: 'strict' }, none);
    expect(rules.targets.map(({ path }) => path)).toEqual([
      '/validate-example-com-v1-site-guard',
      '/validate-example-com-v1-site-guard-2',
      '/validate-example-com-v1-site-guard-strict',
    ]);
    const webhooks = rules.targets.map((target) => (target.type === 'validating' ? target.webhook : undefined));
    expect(webhooks.map((webhook) => webhook?.name)).toEqual([
      'validate.guard.example.com',
      'validate-2.guard.example.com',
      'validate-strict.guard.example.com',
    ]);
    expect(webhooks[0]?.rules).toEqual([rule(['CREATE', 'UPDATE', 'DELETE']), rule(['UPDATE'], ['sites/status'])]);
    expect(webhooks[0]).not.toHaveProperty('reinvocationPolicy');
  });

  test('names kinds of the core group, several kinds, and any kind', () => {
    const namesOf = (definition: WebhookDefinition) =>
      definition.targets.map((target) => [target.path, target.type === 'conversion' ? '' : target.webhook.name]);
    const none = () => {};
    expect(namesOf(admit(Pod).validates(none))).toEqual([['/validate--v1-pod', 'validate.pod.core']]);
    const both = admit([Deployment, StatefulSet]).validates(none);
    expect(namesOf(both)).toEqual([
      ['/validate-apps-v1-deployment-statefulset', 'validate.deployment-statefulset.apps'],
    ]);
    const mixed = admit([Pod, Deployment]).validates(none);
    expect(namesOf(mixed)[0]?.[1]).toBe('validate.pod-deployment.riata.dev');
    expect(mixed.targets).toMatchObject([
      {
        webhook: {
          rules: [
            { apiGroups: [''], resources: ['pods'] },
            { apiGroups: ['apps'], resources: ['deployments'] },
          ],
        },
      },
    ]);
    const any = admit.any({ groups: ['apps', 'batch'] }, { name: 'owners' }).validates({ subresource: '*' }, none);
    expect(namesOf(any)).toEqual([['/validate-owners', 'validate.owners.riata.dev']]);
    expect(any.targets).toMatchObject([
      {
        webhook: {
          rules: [
            { apiGroups: ['apps'], apiVersions: ['*'], resources: ['*/*'] },
            { apiGroups: ['batch'], apiVersions: ['*'], resources: ['*/*'] },
          ],
        },
      },
    ]);
  });

  test('leaves the definition that it was added to as it was', () => {
    const first = admit(Site).validates(() => {});
    const second = first.mutates(() => {}).reads(Pod);
    expect([first.targets.length, second.targets.length]).toEqual([1, 2]);
    expect([first.readKinds, second.readKinds]).toEqual([[], [Pod]]);
  });
});

describe('a definition refuses', () => {
  const none = () => {};
  test.each([
    ['not a kind', () => admit({} as never), 'admit: expects a Kind'],
    ['no kind', () => admit([]), 'admit: expects at least one kind'],
    [
      'a misspelt option',
      () => admit(Site, { failurepolicy: 'fail' } as never),
      /unknown option "failurepolicy"; did you mean "failurePolicy"/,
    ],
    [
      'a misspelt option of a handler',
      () => admit(Site).mutates({ subResource: 'status' } as never, none),
      /admit\(Site\)\.mutates: unknown option "subResource"; did you mean "subresource"/,
    ],
    [
      'a policy that there is not',
      () => admit(Site, { failurePolicy: 'Fail' as never }),
      'failurePolicy must be "fail" or "ignore", got "Fail"',
    ],
    [
      'a fraction of a second',
      () => admit(Site, { timeout: '1500ms' }),
      'timeout must be whole seconds from "1s" to "30s", got "1500ms"',
    ],
    ['too long a timeout', () => admit(Site, { timeout: '1m' }), 'from "1s" to "30s"'],
    ['no operation', () => admit(Site).validates({ on: [] }, none), 'on must name at least one operation'],
    [
      'an unknown operation',
      () => admit(Site).validates({ on: ['patch' as never] }, none),
      /on must be "create" or .*got "patch"/,
    ],
    ['a mutation of a delete', () => admit(Site).mutates({ on: ['delete' as never] }, none), /got "delete"/],
    ['a path without a slash', () => admit(Site).validates({ path: 'x' }, none), 'path must start with a slash'],
    ['a wrong subresource', () => admit(Site).validates({ subresource: 'a/b' }, none), 'subresource must be a name'],
    [
      'a wrong name',
      () => admit(Site, { name: 'A b' }).validates(none),
      /"validate.A b.example.com" is not a valid webhook name/,
    ],
    [
      'reinvocation of a validation',
      () => admit(Site).validates({ reinvocationPolicy: 'never' }, none),
      'reinvocationPolicy is an option of mutations',
    ],
    [
      'an empty condition',
      () => admit(Site, { matchConditions: { a: '' } }),
      'matchConditions.a must be a CEL expression',
    ],
    [
      'an unknown review version',
      () => admit(Site, { admissionReviewVersions: ['v2' as never] }),
      /admissionReviewVersions must be "v1" or "v1beta1"/,
    ],
    ['what is no function', () => admit(Site).validates({} as never), 'admit(Site).validates: expects a function'],
    [
      'no type of a raw handler',
      () => admit(Site).handles({} as never, (() => {}) as never),
      'type must be "mutating" or "validating", got undefined',
    ],
    ['no resources', () => admit.any({ groups: [] }), 'expects at least one group, version and resource'],
  ] as const)('%s', (_, define, message) => expect(define).toThrow(message));

  test('to run without handlers', () => {
    const rules = admit(Site) as unknown as WebhookDefinition;
    expect(() => rules.addTo({} as never)).toThrow('admit(Site) has no handlers; add them with mutates or validates');
  });
});

describe('subresources', () => {
  test('are distinguished by one webhook', async () => {
    const seen: string[] = [];
    const rules = admit(Pod)
      .validates(({ subresource }) => void seen.push(`pod ${subresource}`))
      .validates({ on: ['connect'], subresource: 'exec' }, ({ object, subresource, deny }) => {
        seen.push(`${subresource} ${object.command.join(' ')}`);
        deny('no shells');
      })
      .validates(
        { on: ['update'], subresource: '*' },
        ({ object, subresource }) => void seen.push(`${subresource} ${object.kind}`),
      );
    const [core, play] = [{ group: '', version: 'v1' }, new WebhookPlay(rules)];
    const request = { resource: { ...core, resource: 'pods' }, kind: { ...core, kind: 'Pod' } };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: {} };
    await play.review('/validate--v1-pod', { ...request, object: pod });
    await play.review('/validate--v1-pod', {
      ...request,
      operation: 'UPDATE',
      subResource: 'status',
      object: pod,
      oldObject: pod,
    });
    const exec = { apiVersion: 'v1', kind: 'PodExecOptions', command: ['sh', '-c'] };
    const { status } = await play.review('/validate--v1-pod', {
      ...{ ...request, operation: 'CONNECT', subResource: 'exec', object: exec, options: null, name: 'a' },
      kind: { ...core, kind: 'PodExecOptions' },
    });
    expect(status).toMatchObject({ code: 403, message: 'no shells' });
    expect(seen).toEqual(['pod ', 'status Pod', 'exec sh -c']);
  });
});

describe('a review', () => {
  const rules = admit(Site).validates(() => {});

  test('of another resource is refused, as its configuration must be wrong', async () => {
    const resource = { group: 'apps', version: 'v1', resource: 'deployments' };
    const { status } = await new WebhookPlay(rules).review(validate, { resource });
    expect(status).toMatchObject({
      code: 400,
      message: expect.stringMatching(/does not review the resource deployments of apps\/v1; check the rules/),
    });
  });

  test.each([
    ['without an object', { object: null }, 'the request has no object'],
    ['of an update without the old object', { operation: 'UPDATE' }, 'the request has no oldObject'],
    ['of a delete without the old object', { operation: 'DELETE', object: null }, 'the request has no oldObject'],
    ['of an operation that there is not', { operation: 'PATCH' }, 'unknown operation "PATCH"'],
  ])('%s is a 400', async (_, request, message) => {
    expect((await new WebhookPlay(rules).review(validate, request)).status).toMatchObject({ code: 400, message });
  });

  test.each([
    ['[]', 'request body is not a JSON object'],
    ['{', 'request body is not valid JSON'],
    ['{"kind":"Pod","apiVersion":"v1"}', /expected an AdmissionReview of admission.k8s.io\/v1 .*, got Pod of v1/],
    ['{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v2"}', /got AdmissionReview of admission.k8s.io\/v2/],
    ['{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}', 'the AdmissionReview has no request'],
  ])('that is malformed, %s, is a 400', async (body, message) => {
    const play = new WebhookPlay(rules);
    const { http, status, uid, allowed } = answered(await play.send(validate, body));
    expect([http, uid, allowed, status?.code]).toEqual([200, '', false, 400]);
    expect(status?.message).toMatch(message);
    expect(play.log.messages('warn')).toEqual(['malformed admission review']);
  });
});
