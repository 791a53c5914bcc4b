import { describe, expect, test } from 'vitest';
import { Pod } from '../kinds/index.js';
import { answered, Site, site, siteRequest, WebhookPlay } from './admission/admission.fixture.js';
import { admit } from './admission/admit.js';
import { multiMutatingHandler, multiValidatingHandler, type RawHandler } from './admission/raw-handler.js';
import {
  allowed,
  denied,
  errored,
  patched,
  patchResponse,
  validationResponse,
  withWarnings,
} from './admission/responses.js';
import { authenticates } from './review/authenticates.js';

// The tests of controller-runtime's pkg/webhook/admission and pkg/webhook/authentication, by file and in their order.
// docs/architecture/webhook.md lists those that do not apply.

const gvk = (version: string) => `"kind":"AdmissionReview","apiVersion":"admission.k8s.io/${version}"`;
const ok = `"response":{"uid":"","allowed":true,"status":{"metadata":{},"code":200}}`;
const raw = (handler: RawHandler, type: 'mutating' | 'validating' = 'validating') =>
  new WebhookPlay(admit.any({}).handles({ type }, handler));
const [path, mutatePath] = ['/validate-any', '/mutate-any'];

describe('admission/http_test.go', () => {
  const fails = (message: string) =>
    `{"response":{"uid":"","allowed":false,"status":{"metadata":{},"message":"${message}","code":400}}}`;
  const allow = raw(() => ({ allowed: true }));

  test('bad-request when given an empty body', async () => {
    expect((await allow.send(path, '', { contentType: undefined })).body).toBe(fails('request body is empty'));
  });

  test('bad-request when given the wrong content-type', async () => {
    const { body } = await allow.send(path, '', { contentType: 'application/foo' });
    expect(body).toBe(fails('contentType=application/foo, expected application/json'));
  });

  test('bad-request when given an undecodable body', async () => {
    expect((await allow.send(path, '{')).body).toBe(fails('request body is not valid JSON'));
  });

  test('an error when given no body', async () => {
    expect((await allow.send(path, '')).body).toBe(fails('request body is empty'));
  });

  test('the response given by the handler with version defaulted to v1', async () => {
    expect((await allow.send(path, '{"request":{}}')).body).toBe(`{${gvk('v1')},${ok}}`);
  });

  test.each(['v1', 'v1beta1'])('the %s response given by the handler', async (version) => {
    const { body } = await allow.send(path, `{${gvk(version)},"request":{}}`);
    expect(body).toBe(`{${gvk(version)},${ok}}`);
  });

  test('the signal of the HTTP request reaches the handler', async () => {
    const caller = new AbortController();
    caller.abort(new Error('hung up'));
    let seen: AbortSignal | undefined;
    const play = raw((_, { signal }) => {
      seen = signal;
      return allowed('seen');
    });
    expect((await play.review(path, {}, { signal: caller.signal })).status?.message).toBe('seen');
    expect(seen?.aborted).toBe(true);
  });

  test('a content type may have parameters', async () => {
    const { body } = await allow.send(path, '{"request":{}}', { contentType: 'application/json; charset=utf-8' });
    expect(body).toContain('"allowed":true');
  });
});

describe('admission/webhook_test.go', () => {
  test('invokes the handler, sets the UID and fills in the status', async () => {
    const response = await raw(() => ({ allowed: true })).review(path, { uid: 'foobar' });
    expect(response).toMatchObject({ allowed: true, uid: 'foobar', status: { metadata: {}, code: 200 } });
  });

  test("doesn't overwrite the status of a response", async () => {
    const message = 'Ground Control to Major Tom';
    const { status } = await raw(() => ({ allowed: true, status: { message } })).review(path, {});
    expect(status).toEqual({ metadata: {}, message, code: 200 });
  });

  test('serializes patch operations into one patch', async () => {
    const play = raw(
      () => patched('', { op: 'add', path: '/a', value: 2 }, { op: 'replace', path: '/b', value: 4 }),
      'mutating',
    );
    const { patchText, patchType } = await play.review(mutatePath, {});
    expect(patchType).toBe('JSONPatch');
    expect(patchText).toBe('[{"op":"add","path":"/a","value":2},{"op":"replace","path":"/b","value":4}]');
  });

  test('passes a request logger', async () => {
    const play = raw((_, { log }) => {
      log.info('Received request');
      return allowed();
    });
    await play.review(path, { uid: 'test123', name: 'foo', namespace: 'bar', userInfo: { username: 'tim' } });
    expect(play.log.records[0]?.fields).toMatchObject({
      name: 'foo',
      namespace: 'bar',
      user: 'tim',
      request: 'test123',
    });
  });

  test('recovers from a handler that throws', async () => {
    for (const handler of [
      () => {
        throw new Error('fake panic test');
      },
      () => Promise.reject(new Error('fake panic test')),
    ]) {
      const { allowed: isAllowed, status, uid } = await raw(handler).review(path, {});
      expect([isAllowed, status?.code, uid]).toEqual([false, 500, 'u-1']);
      expect(status?.message).not.toMatch(/fake panic/);
    }
  });

  test('a handler that answers nothing has failed', async () => {
    for (const handler of [() => undefined, () => ({}), async () => 'allowed']) {
      expect((await raw(handler as never).review(path, {})).status?.code).toBe(500);
    }
  });

  test('the request can be read from the context', async () => {
    let uid = '';
    const rules = admit(Site).validates(({ request }) => {
      uid = request.uid;
    });
    await new WebhookPlay(rules).review('/validate-example-com-v1-site', {});
    expect(uid).toBe('u-1');
  });
});

describe('admission/response_test.go', () => {
  test('allowed, denied, errored', () => {
    expect(allowed()).toEqual({ allowed: true, status: { code: 200 } });
    expect(allowed('acceptable')).toEqual({ allowed: true, status: { code: 200, message: 'acceptable' } });
    expect(denied()).toEqual({ allowed: false, status: { code: 403, reason: 'Forbidden' } });
    const status = { code: 403, reason: 'Forbidden', message: 'UNACCEPTABLE!' };
    expect(denied('UNACCEPTABLE!')).toEqual({ allowed: false, status });
    expect(errored(400, new Error('this is an error'))).toEqual({
      allowed: false,
      status: { code: 400, message: 'this is an error' },
    });
  });

  test('patched', () => {
    const patches = [{ op: 'replace', path: '/a', value: 1 } as const, { op: 'remove', path: '/b' } as const];
    expect(patched('', ...patches)).toEqual({ allowed: true, status: { code: 200 }, patches });
    const status = { code: 200, message: 'some changes' };
    expect(patched('some changes', ...patches)).toEqual({ allowed: true, status, patches });
  });

  test('validationResponse', () => {
    expect(validationResponse(true, 'acceptable')).toEqual(allowed('acceptable'));
    expect(validationResponse(false, 'UNACCEPTABLE!')).toEqual(denied('UNACCEPTABLE!'));
    expect(validationResponse(true)).toEqual(allowed());
    expect(validationResponse(false)).toEqual(denied());
  });

  test('patchResponse (PatchResponseFromRaw)', () => {
    expect(patchResponse({ a: 'foo' }, { a: 'bar' })).toEqual({
      allowed: true,
      patches: [{ op: 'replace', path: '/a', value: 'bar' }],
      patchType: 'JSONPatch',
    });
    expect(patchResponse({ a: 'foo' }, { a: 'foo' })).toEqual({ allowed: true });
  });

  test('withWarnings', () => {
    const first = { ...allowed(), warnings: ['existing'] };
    expect(withWarnings(first, 'one', 'two')).toEqual({ ...allowed(), warnings: ['existing', 'one', 'two'] });
  });
});

describe('admission/multi_test.go', () => {
  const allow: RawHandler = () => ({ allowed: true });
  const deny: RawHandler = async () => ({ allowed: false });
  const warns: RawHandler = () => ({ allowed: true, warnings: ['handler-warning'] });
  const first = [
    { op: 'add', path: '/metadata/annotation/new-key', value: 'new-value' },
    { op: 'replace', path: '/spec/replicas', value: '2' },
  ] as const;
  const second = [{ op: 'add', path: '/metadata/annotation/hello', value: 'world' }] as const;
  const patcher =
    (...patches: Parameters<typeof patched>[1][]): RawHandler =>
    () =>
      patched('', ...patches);

  test.each([
    ['denies if any handler does', [allow, deny, warns], false, undefined],
    ['allows if all handlers do', [allow, allow], true, undefined],
    ['shows the warnings if all handlers allow', [allow, warns], true, ['handler-warning']],
  ] as const)('validating: %s', async (_, handlers, isAllowed, warnings) => {
    const response = await raw(multiValidatingHandler(...handlers)).review(path, {});
    expect([response.allowed, response.warnings]).toEqual([isAllowed, warnings]);
  });

  test('mutating: no patches if the request is denied', async () => {
    const play = raw(multiMutatingHandler(patcher(...first), patcher(...second), deny), 'mutating');
    const { allowed: isAllowed, patch } = await play.review(mutatePath, {});
    expect([isAllowed, patch]).toEqual([false, undefined]);
  });

  test('mutating: all patches and warnings if all are allowed', async () => {
    const play = raw(multiMutatingHandler(patcher(...first), patcher(...second), allow, warns), 'mutating');
    const { patch, warnings } = await play.review(mutatePath, {});
    expect(patch).toEqual([...first, ...second]);
    expect(warnings).toEqual(['handler-warning']);
  });

  test('mutating: no other type of patch', async () => {
    const play = raw(
      multiMutatingHandler(() => ({ allowed: true, patchType: 'Merge' })),
      'mutating',
    );
    expect((await play.review(mutatePath, {})).status?.code).toBe(500);
  });
});

describe('admission/decode_test.go', () => {
  test('objects come as they are, unknown kinds as well', async () => {
    const seen: unknown[] = [];
    const rules = admit.any({}).validates({ on: ['update'] }, ({ object, old }) => void seen.push(object, old));
    const [object, oldObject] = [site({ image: 'v2' }), site({ image: 'v1' })];
    await new WebhookPlay(rules).review(path, { operation: 'UPDATE', object, oldObject });
    expect(seen).toEqual([object, oldObject]);
    const { apiVersion: _, kind: __, ...bare } = object as Record<string, unknown>;
    await new WebhookPlay(rules).review(path, { operation: 'UPDATE', object: bare, oldObject });
    expect(seen[2]).toEqual(bare);
  });

  test('fails if the request is for another kind', async () => {
    const rules = admit(Pod).validates(() => {});
    expect((await new WebhookPlay(rules).review('/validate--v1-pod', siteRequest)).status?.code).toBe(400);
  });
});

describe('admission/defaulter_custom_test.go', () => {
  const rules = admit(Site).mutates((draft) => {
    draft.metadata.labels = { foo: 'bar' };
    if (draft.spec.replicas < 2) draft.spec.replicas = 2;
    delete draft.spec.ports;
  });

  test('preserves unknown fields by default', async () => {
    const object = site({ replicas: 1, ports: [], newField: 'foo' });
    const { patch, status } = await new WebhookPlay(rules).review('/mutate-example-com-v1-site', { object });
    expect(patch).toEqual([
      { op: 'add', path: '/metadata/labels', value: { foo: 'bar' } },
      { op: 'replace', path: '/spec/replicas', value: 2 },
      { op: 'remove', path: '/spec/ports' },
    ]);
    expect(status?.code).toBe(200);
  });

  test('returns ok for a delete', async () => {
    const request = { operation: 'DELETE', object: null, oldObject: {} };
    const { allowed: isAllowed, status } = await new WebhookPlay(rules).review('/mutate-example-com-v1-site', request);
    expect([isAllowed, status?.code]).toEqual([true, 200]);
  });
});

describe('admission/validator_custom_test.go', () => {
  const requests = {
    create: { operation: 'CREATE' },
    update: { operation: 'UPDATE', oldObject: site() },
    delete: { operation: 'DELETE', object: null, oldObject: site() },
  };
  const on = ['create', 'update', 'delete'] as const;
  const validatePath = '/validate-example-com-v1-site';

  describe.each(on)('%s', (operation) => {
    test('200 when it succeeds, with and without warnings', async () => {
      for (const texts of [[], ['warning message', 'another warning message']]) {
        const rules = admit(Site).validates({ on }, ({ warn }) => texts.forEach((text) => void warn(text)));
        const {
          allowed: isAllowed,
          status,
          warnings = [],
        } = await new WebhookPlay(rules).review(validatePath, requests[operation]);
        expect([isAllowed, status?.code, warnings]).toEqual([true, 200, texts]);
      }
    });

    test('a Status of its own, by a raw handler', async () => {
      const status = { code: 422, message: 'some message' };
      for (const warnings of [[], ['warning message']]) {
        const rules = admit(Site).handles({ type: 'validating', on }, () => ({ allowed: false, status, warnings }));
        const response = await new WebhookPlay(rules).review(validatePath, requests[operation]);
        expect(response.status).toEqual({ metadata: {}, ...status });
        expect(response.warnings ?? []).toEqual(warnings);
      }
    });

    test('403 when it denies with a message, with and without warnings', async () => {
      for (const texts of [[], ['warning message']]) {
        const rules = admit(Site).validates({ on }, ({ deny, warn }) => {
          for (const text of texts) warn(text);
          deny('some error');
        });
        const response = await new WebhookPlay(rules).review(validatePath, requests[operation]);
        expect(response.status).toMatchObject({ code: 403, reason: 'Forbidden', message: 'some error' });
        expect(response.warnings ?? []).toEqual(texts);
      }
    });
  });

  test.each([
    ['a create', { object: 'text' }],
    ['the new object of an update', { ...requests.update, object: [] }],
    ['the old object of an update', { ...requests.update, oldObject: 'text' }],
    ['a delete', { ...requests.delete, oldObject: null }],
  ])('400 when %s cannot be decoded', async (_, request) => {
    const rules = admit(Site).validates({ on }, () => {});
    expect((await new WebhookPlay(rules).review(validatePath, request)).status?.code).toBe(400);
  });
});

describe('authentication', () => {
  const play = new WebhookPlay(authenticates(({ token }) => (token === 'foobar' ? { name: 'ann' } : 'unknown')));
  const send = async (body: string, contentType: string | undefined = 'application/json') =>
    (await play.send('/authenticate', body, { contentType })).body;
  const fails = (error: string) => `{"metadata":{},"spec":{},"status":{"user":{},"error":"${error}"}}`;
  const type = (version: string) => `"kind":"TokenReview","apiVersion":"authentication.k8s.io/${version}"`;
  const user = '"status":{"authenticated":true,"user":{"username":"ann"}}';

  test('http_test.go: bodies that are no review', async () => {
    expect((await play.send('/authenticate', '', { contentType: undefined })).body).toBe(
      fails('request body is empty'),
    );
    expect(await send('')).toBe(fails('request body is empty'));
    expect(await send('', 'application/foo')).toBe(fails('contentType=application/foo, expected application/json'));
    expect(await send('{')).toBe(fails('request body is not valid JSON'));
    const empty = JSON.parse((await send('{"spec":{"token":""}}')) as string) as object;
    expect(empty).toMatchObject({ spec: {}, status: { user: {}, error: 'token is empty' } });
  });

  test('http_test.go: the version of the review, v1 by default', async () => {
    expect(await send('{"spec":{"token":"foobar"}}')).toBe(`{${type('v1')},"metadata":{},"spec":{},${user}}`);
    for (const version of ['v1', 'v1beta1']) {
      const body = await send(`{${type(version)},"spec":{"token":"foobar"}}`);
      expect(body).toBe(`{${type(version)},"metadata":{},"spec":{},${user}}`);
    }
  });

  test('webhook_test.go, response_test.go: the UID, users and reasons', async () => {
    const body = await send('{"metadata":{"uid":"foobar"},"spec":{"token":"x"}}');
    expect(body).toBe(`{${type('v1')},"metadata":{"uid":"foobar"},"spec":{},"status":{"user":{},"error":"unknown"}}`);
  });
});

test('an answer is what API servers accept', async () => {
  const { http, uid } = answered(await raw(() => allowed()).send(path, `{${gvk('v1')},"request":{"uid":"\\"odd\\""}}`));
  expect([http, uid]).toEqual([200, '"odd"']);
});
