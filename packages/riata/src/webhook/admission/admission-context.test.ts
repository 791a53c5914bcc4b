import { describe, expect, test } from 'vitest';
import type { Client } from '../../client/interfaces.js';
import { ConfigMap, Pod, Secret, SelfSubjectAccessReview } from '../../kinds/index.js';
import type { KindOf } from '../../object/kind.js';
import { ApiError } from '../../rest/errors/api-error.js';
import { Site, site, WebhookPlay } from './admission.fixture.js';
import type { AdmissionContext } from './admission-context.js';
import type { Validator } from './admission-rules.js';
import { admit } from './admit.js';

const validate = '/validate-example-com-v1-site';
type SiteContext = AdmissionContext<unknown, 'create' | 'update' | 'delete' | 'connect'>;

/** The context of a request, after the handler. */
async function contextOf(request: object, on: 'create' | 'update' | 'delete' = 'create'): Promise<SiteContext> {
  const seen: SiteContext[] = [];
  const play = new WebhookPlay(admit(Site).validates({ on: [on] }, (context) => void seen.push(context)));
  await play.review(validate, request);
  return seen[0] as SiteContext;
}

function denying(deny: Validator<KindOf<typeof Site>>): WebhookPlay {
  return new WebhookPlay(admit(Site).validates(deny));
}

describe('the context', () => {
  test('has all of the request', async () => {
    const userInfo = { username: 'ann', uid: '7', groups: ['a'], extra: { scopes: ['x'] } };
    const options = { kind: 'UpdateOptions', fieldManager: 'kubectl' };
    const [object, oldObject] = [site({ replicas: 2 }), site({ replicas: 1 })];
    const request = { operation: 'UPDATE', object, oldObject, userInfo, options, dryRun: true };
    const context = await contextOf(request, 'update');
    expect(context).toMatchObject({ operation: 'update', object, old: oldObject, dryRun: true, options });
    expect(context).toMatchObject({ subresource: '', name: 'one', namespace: 'shop', kind: { kind: 'Site' } });
    expect(context.user).toEqual({ name: 'ann', uid: '7', groups: ['a'], extra: { scopes: ['x'] } });
    expect(context.request.uid).toBe('u-1');
  });

  test('has no old object on a create, and no object on a delete', async () => {
    expect((await contextOf({})).old).toBeUndefined();
    const context = await contextOf({ operation: 'DELETE', object: null, oldObject: site() }, 'delete');
    expect([context.object, context.old]).toEqual([undefined, site()]);
  });

  test('has empty texts and lists for what the request has not', async () => {
    const context = await contextOf({ userInfo: {}, name: undefined, namespace: undefined, options: null });
    expect(context.user).toEqual({ name: '', uid: '', groups: [], extra: {} });
    expect([context.name, context.namespace, context.options]).toEqual(['', '', {}]);
  });

  test('has objects that cannot be changed by mistake', async () => {
    const play = denying(({ object }) => {
      (object.spec as { replicas: number }).replicas = 3;
    });
    const { status } = await play.review(validate, {});
    expect(status?.code).toBe(500);
    expect(play.log.records[0]?.fields.hint).toMatch(/frozen; change a copy/);
  });

  test('logs with the names of the request', async () => {
    const play = denying(({ log }) => log.info('looked'));
    await play.review(validate, {});
    expect(play.log.records).toEqual([
      {
        level: 'info',
        message: 'looked',
        fields: {
          webhook: 'validate.site.example.com',
          operation: 'CREATE',
          kind: 'Site',
          namespace: 'shop',
          name: 'one',
          user: 'ann',
          request: 'u-1',
        },
      },
    ]);
  });
});

describe('deny', () => {
  test('makes all denials one answer', async () => {
    const rules = admit(Site)
      .validates(({ deny, path }) => {
        deny(path.spec.zone, '', { reason: 'required' });
        deny(path.spec.replicas, 'must be less than 10');
      })
      .validates(async ({ deny, path }) => {
        await Promise.resolve();
        deny(path.spec.ports.index(0).name, 'is used twice', { reason: 'duplicate' });
        deny(path.metadata.labels.key('a.b/c'), 'is reserved', { reason: 'forbidden' });
        deny('spec.free', 'as a text');
        deny('the cluster is full');
      });
    const object = site({ replicas: 11, ports: [{ name: 'web', port: 80 }] });
    const { status } = await new WebhookPlay(rules).review(validate, { object });
    expect(status?.details).toEqual({
      name: 'one',
      group: 'example.com',
      kind: 'Site',
      causes: [
        { reason: 'FieldValueRequired', field: 'spec.zone', message: 'Required value' },
        { reason: 'FieldValueInvalid', field: 'spec.replicas', message: 'Invalid value: 11: must be less than 10' },
        {
          reason: 'FieldValueDuplicate',
          field: 'spec.ports[0].name',
          message: 'Duplicate value: "web": is used twice',
        },
        { reason: 'FieldValueForbidden', field: 'metadata.labels[a.b/c]', message: 'Forbidden: is reserved' },
        { reason: 'FieldValueInvalid', field: 'spec.free', message: 'Invalid value: as a text' },
        { reason: 'FieldValueForbidden', message: 'Forbidden: the cluster is full' },
      ],
    });
    expect(status?.code).toBe(422);
    expect(status?.message).toBe(
      'Site.example.com "one" is invalid: [spec.zone: Required value, ' +
        'spec.replicas: Invalid value: 11: must be less than 10, ' +
        'spec.ports[0].name: Duplicate value: "web": is used twice, metadata.labels[a.b/c]: Forbidden: is reserved, ' +
        'spec.free: Invalid value: as a text, Forbidden: the cluster is full]',
    );
  });

  test('without a field is a 403', async () => {
    const play = denying(({ deny }) => {
      deny('not on Fridays');
      deny('ask ann');
    });
    const { status, allowed } = await play.review(validate, {});
    expect(allowed).toBe(false);
    expect(status).toMatchObject({ code: 403, reason: 'Forbidden', message: 'not on Fridays; ask ann' });
    expect(status).not.toHaveProperty('details');
  });

  test('shows a value only where that is harmless', async () => {
    const rules = admit(Secret).validates(({ deny, path }) => {
      deny(path.data.key('password'), 'is too short');
      deny(path.metadata.name, 'is reserved');
    });
    const version = { group: '', version: 'v1' };
    const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, data: { password: 'aGk=' } };
    const { status } = await new WebhookPlay(rules).review('/validate--v1-secret', {
      ...{ kind: { ...version, kind: 'Secret' }, resource: { ...version, resource: 'secrets' }, object, name: 'x' },
    });
    expect(status?.message).toBe(
      'Secret "x" is invalid: [data[password]: Invalid value: is too short, ' +
        'metadata.name: Invalid value: "x": is reserved]',
    );
    const long = denying(({ deny, path }) => {
      deny(path.spec.zone, 'is too long');
      deny(path.spec.replicas, 'no', { showValue: false });
      deny(path.spec, 'no');
    });
    const response = await long.review(validate, { object: site({ zone: 'x'.repeat(1000), replicas: 1 }) });
    expect(response.status?.details?.causes?.map(({ message }) => message)).toEqual([
      'Invalid value: is too long',
      'Invalid value: no',
      'Invalid value: no',
    ]);
  });

  test('used wrongly is an error of the webhook', async () => {
    for (const wrong of [
      (deny: (...args: unknown[]) => void) => deny(undefined, 'no'),
      (deny: (...args: unknown[]) => void) => deny('a', 'b', { reason: 'unheard of' }),
      (deny: (...args: unknown[]) => void) => deny('a', 'b', { reson: 'invalid' }),
    ]) {
      const play = denying(({ deny }) => wrong(deny as never));
      expect((await play.review(validate, {})).status?.code).toBe(500);
    }
  });
});

describe('warn and audit', () => {
  test('come with the answer, allowed or not', async () => {
    const play = denying(({ warn, audit, deny, object }) => {
      warn('one\nline');
      warn('one line');
      warn('');
      warn('x'.repeat(300));
      warn('🙂'.repeat(257));
      audit('team', 'a');
      if (object.spec.replicas > 1) deny('no');
    });
    for (const replicas of [1, 2]) {
      const { warnings, auditAnnotations, allowed } = await play.review(validate, { object: site({ replicas }) });
      expect(warnings).toEqual(['one line', 'x'.repeat(256), '🙂'.repeat(256)]);
      expect(auditAnnotations).toEqual({ team: 'a' });
      expect(allowed).toBe(replicas === 1);
    }
  });

  test('have the limits of API servers', async () => {
    const play = denying(({ warn }) => {
      for (let at = 0; at < 100; at += 1) warn(`${at} `.padEnd(100, '.'));
    });
    expect((await play.review(validate, {})).warnings).toHaveLength(40);
    const wrong = denying(({ audit }) => audit('a/b', 'c'));
    expect((await wrong.review(validate, {})).status?.code).toBe(500);
    expect(String(wrong.log.records[0]?.fields.error)).toMatch(/the webhook's name is put before it; got "a\/b"/);
  });
});

describe('the client', () => {
  const calls: string[] = [];
  const note = (name: string) => async () => void calls.push(name);
  const writer = { update: note('status.update'), patch: note('status.patch'), applyFields: note('status.apply') };
  const client = {
    get: note('get'),
    list: note('list'),
    create: note('create'),
    update: note('update'),
    delete: note('delete'),
    status: writer,
    subresource: () => ({ ...writer, get: note('sub.get'), create: note('sub.create') }),
  } as unknown as Client;
  const key = { namespace: 'shop', name: 'a' };
  const configMap = ConfigMap({ metadata: key });

  async function tried(rules: object, request: object, work: (client: Client) => Promise<unknown>): Promise<unknown> {
    let found: unknown;
    const definition = admit(Site, rules).validates(async (context) => {
      found = await work(context.client).then(
        () => 'done',
        (error: Error) => error.message,
      );
    });
    await new WebhookPlay(definition, client).review(validate, request);
    return found;
  }

  test('reads', async () => {
    expect(await tried({}, {}, (given) => given.get(Pod, key))).toBe('done');
    expect(await tried({}, {}, (given) => given.subresource('scale').get(Pod, key))).toBe('done');
  });

  test('writes nothing unless the webhook has side effects', async () => {
    const refusal =
      'webhook "validate.site.example.com" cannot create ConfigMap: it has sideEffects: \'none\'; ' +
      "declare sideEffects: 'noneOnDryRun'";
    expect(await tried({}, {}, (given) => given.create(configMap))).toBe(refusal);
    const writes: ((given: Client) => Promise<unknown>)[] = [
      (given) => given.update(configMap),
      (given) => given.patch(Pod, key, { type: 'merge', body: {} }),
      (given) => given.apply(configMap, { fieldManager: 'a' }),
      (given) => given.applyFields(ConfigMap, { metadata: key }, { fieldManager: 'a' }),
      (given) => given.delete(Pod, key),
      (given) => given.deleteCollection(Pod, { namespace: 'shop' }),
      (given) => given.status.patch(Pod, key, { type: 'merge', body: {} }),
      (given) => given.status.update(configMap),
      (given) => given.subresource('eviction').create(Pod, key, {}),
      (given) => given.subresource('scale').replace(Pod, key, {}),
    ];
    for (const write of writes) expect(await tried({}, {}, write)).toMatch(/cannot \w+ .*sideEffects: 'none'/);
    const declared = { sideEffects: 'noneOnDryRun' };
    expect(await tried(declared, {}, (given) => given.create(configMap))).toBe('done');
    expect(await tried(declared, { dryRun: true }, (given) => given.create(configMap))).toMatch(
      /the request is a dry run; check dryRun first/,
    );
  });

  test('may do what has no effect', async () => {
    const review = SelfSubjectAccessReview({ metadata: {}, spec: {} });
    expect(await tried({}, {}, (given) => given.create(review))).toBe('done');
    expect(await tried({}, {}, (given) => given.create(configMap, { dryRun: true }))).toBe('done');
  });
});

describe('a handler that fails', () => {
  function thrown(): Error {
    const error = new Error('the password is hunter2');
    error.stack =
      'Error: the password is hunter2\n    at check (/home/ann/shop/rules.ts:41:12)\n    at node:internal:1:1';
    return error;
  }

  test('is a 500 that names the webhook and the line, and nothing else', async () => {
    const rules = admit(Site).validates(() => {
      throw thrown();
    });
    const play = new WebhookPlay(rules);
    const { http, uid, allowed, status } = await play.review(validate, {});
    expect([http, uid, allowed]).toEqual([200, 'u-1', false]);
    expect(status).toEqual({
      metadata: {},
      status: 'Failure',
      code: 500,
      reason: 'InternalError',
      message: 'webhook "validate.site.example.com" failed at rules.ts:41; the webhook\'s log has the error',
    });
    expect(play.log.records).toMatchObject([
      {
        level: 'error',
        message: 'admission webhook failed',
        fields: { at: 'check (/home/ann/shop/rules.ts:41:12)', failurePolicy: 'Fail', name: 'one' },
      },
    ]);
    expect(play.records).toMatchObject([{ outcome: 'failed', details: [] }]);
  });

  test('is let pass by the API server, where the policy says so', async () => {
    const rules = admit(Site, { failurePolicy: 'ignore' }).validates(() => Promise.reject(thrown()));
    const { http, body } = await new WebhookPlay(rules).review(validate, {});
    expect(http).toBe(500);
    expect(body).toMatchObject({ kind: 'Status', code: 500, reason: 'InternalError' });
    expect(JSON.stringify(body)).not.toMatch(/hunter2/);
  });

  test('fails the same with an answer of the API server', async () => {
    const play = denying(() => {
      throw new ApiError({ code: 404, reason: 'NotFound', message: 'secret "x" not found' });
    });
    const { status } = await play.review(validate, {});
    expect(status?.code).toBe(500);
    expect(status?.message).not.toMatch(/not found/);
  });

  test('may throw anything', async () => {
    for (const wrong of [undefined, null, 'text', Object.create(null), Proxy.revocable({}, {}).proxy]) {
      const play = denying(() => {
        throw wrong;
      });
      expect((await play.review(validate, {})).status?.code).toBe(500);
      expect(play.log.messages('error')).toEqual(['admission webhook failed']);
    }
  });

  test('fails the request even if another one has denied it', async () => {
    const rules = admit(Site)
      .validates(({ deny }) => deny('no'))
      .validates(() => Promise.reject(new Error('broken')));
    expect((await new WebhookPlay(rules).review(validate, {})).status?.code).toBe(500);
  });
});

describe('the deadline', () => {
  test('is that of the API server, less some for the way back', async () => {
    const play = new WebhookPlay(admit(Site).validates(() => new Promise(() => {})));
    for (const [query, ms, said] of [
      ['timeout=2s', 1800, '1.8s'],
      ['timeout=10s', 9500, '9.5s'],
      ['timeout=1m30s', 89_500, '89.5s'],
      ['timeout=nonsense', 9500, '9.5s'],
      ['timeout=0s', 9500, '9.5s'],
      ['', 9500, '9.5s'],
    ] as const) {
      let status: unknown;
      void play.review(validate, {}, { query }).then((response) => {
        status = response.status;
      });
      await play.clock.advance(ms - 1);
      expect(status).toBeUndefined();
      await play.clock.advance(1);
      expect(status).toMatchObject({
        ...{ code: 504, reason: 'Timeout' },
        message: `webhook "validate.site.example.com" did not answer within ${said}`,
      });
    }
    expect(play.log.messages('error')).toHaveLength(6);
    expect(play.records.every(({ outcome }) => outcome === 'failed')).toBe(true);
  });

  test('aborts the signal', async () => {
    let seen: AbortSignal | undefined;
    const rules = admit(Site, { failurePolicy: 'ignore', timeout: '1s' }).mutates((_, { signal }) => {
      seen = signal;
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const play = new WebhookPlay(rules);
    const answer = play.review('/mutate-example-com-v1-site', {});
    expect(seen?.aborted).toBe(false);
    await play.clock.advance(900);
    expect((await answer).http).toBe(504);
    expect(seen?.aborted).toBe(true);
  });

  test('leaves no timer behind', async () => {
    const play = new WebhookPlay(admit(Site).validates(async ({ signal }) => void signal));
    await play.review(validate, {});
    expect(play.clock.pending).toBe(0);
  });

  test('ends with a caller that hangs up', async () => {
    const caller = new AbortController();
    const play = new WebhookPlay(admit(Site).validates(() => new Promise(() => {})));
    const answer = play.review(validate, {}, { signal: caller.signal });
    caller.abort(new Error('gone'));
    expect((await answer).status).toMatchObject({ code: 503, reason: 'ServiceUnavailable' });
  });
});

test('records say what was done, without values', async () => {
  const rules = admit(Site)
    .mutates((draft) => {
      draft.spec.zone = 'secret zone';
    })
    .validates(({ deny, warn, path }) => {
      deny(path.spec.zone, 'is wrong');
      warn('careful');
    });
  const play = new WebhookPlay(rules);
  await play.review('/mutate-example-com-v1-site', {});
  await play.review(validate, { dryRun: true });
  expect(play.records).toEqual([
    {
      webhook: 'mutate.site.example.com',
      path: '/mutate-example-com-v1-site',
      object: { apiVersion: 'example.com/v1', kind: 'Site', namespace: 'shop', name: 'one' },
      operation: 'create',
      user: 'ann',
      dryRun: false,
      startedAt: play.clock.now(),
      durationMs: 0,
      outcome: 'allowed',
      details: ['changed /spec/zone'],
    },
    expect.objectContaining({
      webhook: 'validate.site.example.com',
      dryRun: true,
      outcome: 'denied',
      details: ['denied spec.zone: is wrong', 'warned: careful'],
    }),
  ]);
});
