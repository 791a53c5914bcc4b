import { describe, expect, test } from 'vitest';
import { Site, site, WebhookPlay } from './admission.fixture.js';
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
