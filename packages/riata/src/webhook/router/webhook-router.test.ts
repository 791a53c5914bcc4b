import { expect, test } from 'vitest';
import { siteRequest, WebhookPlay } from '../admission/admission.fixture.js';
import { admit } from '../admission/admit.js';
import { allowed, denied, patchResponse } from '../admission/responses.js';
import { WebhookRouter } from './webhook-router.js';

function play(
  router: WebhookRouter,
  type: 'mutating' | 'validating' = 'validating',
): (request?: object) => Promise<string> {
  const webhook = new WebhookPlay(admit.any({}).handles({ type }, router.handler));
  return async (request = {}) => {
    const { status } = await webhook.review(type === 'mutating' ? '/mutate-any' : '/validate-any', request);
    return status?.message ?? '';
  };
}

test('the first route that matches answers', async () => {
  const router = new WebhookRouter();
  router.kind('Pod').handle(() => allowed('pod'));
  router.operation('delete').handle(() => denied('delete'));
  router
    .namespace('shop')
    .name('one')
    .handle(() => allowed('one'));
  router
    .group('example.com')
    .version('v1')
    .resource('sites')
    .subresource('')
    .handle(() => allowed('site'));
  router.subresource('scale').handle(() => allowed('scale'));
  router.dryRun(true).handle(() => allowed('dry'));
  const said = play(router);
  expect(await said()).toBe('one');
  expect(await said({ kind: { group: '', version: 'v1', kind: 'Pod' } })).toBe('pod');
  expect(await said({ operation: 'DELETE' })).toBe('delete');
  expect(await said({ name: 'two' })).toBe('site');
  expect(await said({ namespace: undefined })).toBe('site');
  expect(await said({ name: 'two', subResource: 'scale' })).toBe('scale');
  expect(await said({ name: 'two', subResource: 'status', dryRun: true })).toBe('dry');
});

test('the kind of the original request counts', async () => {
  const router = new WebhookRouter();
  const older = { group: 'example.com', version: 'v1beta1' };
  router.version('v1beta1').handle(() => allowed('old'));
  router.handle(() => allowed('any'));
  const said = play(router);
  expect(await said()).toBe('any');
  const request = { requestKind: { ...older, kind: 'Site' }, requestResource: { ...older, resource: 'sites' } };
  expect(await said(request)).toBe('old');
});

test('a request without a route fails', async () => {
  const router = new WebhookRouter();
  const webhook = new WebhookPlay(admit.any({}).handles({ type: 'validating' }, router.handler));
  const { status } = await webhook.review('/validate-any', {});
  expect(status?.code).toBe(500);
  expect(String(webhook.log.records[0]?.fields.error)).toMatch('no route matches CREATE Site shop/one; add one');
  router.handle(() => allowed('later'));
  expect((await webhook.review('/validate-any', {})).allowed).toBe(true);
});

test('routes can patch, and be narrowed down twice', async () => {
  const router = new WebhookRouter();
  const shop = router.namespace('shop');
  shop.operation('create').handle(({ object }) => patchResponse(object, { ...(object as object), added: 1 }));
  shop.operation('update').handle(async () => allowed('update'));
  const webhook = new WebhookPlay(admit.any({}).handles({ type: 'mutating' }, router.handler));
  const { patch } = await webhook.review('/mutate-any', siteRequest);
  expect(patch).toEqual([{ op: 'add', path: '/added', value: 1 }]);
  const update = await webhook.review('/mutate-any', { ...siteRequest, operation: 'UPDATE' });
  expect([update.allowed, update.patch]).toEqual([true, undefined]);
});

test('a handler is a function', () => {
  expect(() => new WebhookRouter().handle(undefined as never)).toThrow(
    'WebhookRouter: expects a function, got undefined',
  );
});
