import { createClient } from 'riata';
import { ConfigMap, MutatingWebhookConfiguration, Namespace, ValidatingWebhookConfiguration } from 'riata/kinds';
import { type MemoryLogger, memoryLogger, VirtualClock } from 'riata/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ApiServer } from '../../api-server.js';
import { admissionWebhook } from './admission-webhook.js';

// biome-ignore lint/suspicious/noExplicitAny: the test reads arbitrary fields
type Review = any;

let server: ApiServer;
let clock: VirtualClock;
let log: MemoryLogger;

beforeEach(async () => {
  clock = new VirtualClock();
  log = memoryLogger();
  server = await ApiServer.start({ clock, log });
});

afterEach(() => server.stop());

const client = () => createClient(server.config, { runtime: { clock, log } });

const rule = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };

const webhook = (url: string, more: object = {}) => ({
  ...{ name: 'hook.example.com', clientConfig: { url }, sideEffects: 'None', admissionReviewVersions: ['v1'] },
  rules: [rule],
  ...more,
});

const configMap = (name: string, data = {}) => ConfigMap({ metadata: { name, namespace: 'default' }, data });

const answer = ({ apiVersion, kind, request }: Review, response: object) =>
  Response.json({ apiVersion, kind, response: { uid: request.uid, allowed: true, ...response } });

const merge = (body: object) => ({ type: 'merge' as const, body });

const patch = (...steps: readonly object[]) => ({
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(steps)).toString('base64'),
});

test('a handler in this process denies and patches', async () => {
  server.handle('https://hooks.example.com/deny', async (request) => {
    const review: Review = await request.json();
    const allowed = review.request.object.data?.bad === undefined;
    return answer(review, { allowed, status: { message: 'it is bad', code: 403 } });
  });
  server.handle('https://hooks.default.svc/label', async (request) =>
    answer(await request.json(), patch({ op: 'add', path: '/data', value: { patched: 'yes' } })),
  );
  await client().create(
    ValidatingWebhookConfiguration({
      metadata: { name: 'deny' },
      webhooks: [webhook('https://hooks.example.com/deny')],
    } as never),
  );
  await client().create(
    MutatingWebhookConfiguration({
      metadata: { name: 'label' },
      webhooks: [
        webhook('', {
          clientConfig: { service: { namespace: 'default', name: 'hooks', path: '/label' } },
          matchConditions: [{ name: 'empty', expression: '!has(object.data)' }],
        }),
      ],
    } as never),
  );
  expect(await client().create(ConfigMap({ metadata: { name: 'a', namespace: 'default' } }))).toMatchObject({
    data: { patched: 'yes' },
  });
  await expect(client().create(configMap('b', { bad: '1' }))).rejects.toMatchObject({
    code: 403,
    message: expect.stringContaining('admission webhook "hook.example.com" denied the request: it is bad'),
  });
  expect(log.records.filter(({ level }) => level === 'error')).toEqual([]);
});

test('a webhook times out by the clock of the server; then its failure policy decides', async () => {
  server.handle('https://slow.example.com', () => new Promise(() => {}));
  const configure = (failurePolicy: string) =>
    client().apply(
      ValidatingWebhookConfiguration({
        metadata: { name: 'slow' },
        webhooks: [webhook('https://slow.example.com/x', { timeoutSeconds: 3, failurePolicy })],
      } as never),
      { fieldManager: 'test', force: true },
    );
  await configure('Fail');
  const failing = client().create(configMap('a'));
  failing.catch(() => {});
  await clock.advance(3_000);
  await expect(failing).rejects.toMatchObject({
    code: 500,
    message: expect.stringContaining(
      'failed calling webhook "hook.example.com": failed to call webhook: ' +
        'Post "https://slow.example.com/x?timeout=3s": context deadline exceeded',
    ),
  });
  await configure('Ignore');
  const passing = client().create(configMap('a'));
  await clock.advance(3_000);
  expect((await passing).metadata.name).toBe('a');
  expect(log.records).toContainEqual(
    expect.objectContaining({ level: 'warn', message: 'failed to call webhook, failing open' }),
  );
});

test('starts again if the object changes while a webhook is called', async () => {
  let release = () => {};
  const seen: unknown[] = [];
  server.handle('https://hooks.example.com', async (request) => {
    const review: Review = await request.json();
    seen.push(review.request.oldObject?.data);
    if (seen.length === 1) await new Promise<void>((resolve) => (release = resolve));
    return answer(review, {});
  });
  await client().create(configMap('a', { x: '0' }));
  await client().create(
    ValidatingWebhookConfiguration({
      metadata: { name: 'v' },
      webhooks: [
        webhook('https://hooks.example.com', {
          matchConditions: [{ name: 'y', expression: 'object != null && "y" in object.data' }],
        }),
      ],
    } as never),
  );
  const waiting = client().patch(ConfigMap, { namespace: 'default', name: 'a' }, merge({ data: { y: '1' } }));
  while (seen.length === 0) await clock.yield();
  await client().patch(ConfigMap, { namespace: 'default', name: 'a' }, merge({ data: { x: '1' } }));
  release();
  expect((await waiting).data).toEqual({ x: '1', y: '1' });
  expect(seen).toEqual([{ x: '0' }, { x: '1' }]);
});

test('webhooks are never called for the kinds that configure admission', async () => {
  await client().create(
    ValidatingWebhookConfiguration({
      metadata: { name: 'all' },
      webhooks: [
        webhook('https://nowhere.example.com', {
          rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }],
        }),
      ],
    } as never),
  );
  await expect(client().create(Namespace({ metadata: { name: 'n' } }))).rejects.toMatchObject({ code: 500 });
  await client().delete(ValidatingWebhookConfiguration, { name: 'all' });
  expect((await client().create(Namespace({ metadata: { name: 'n' } }))).metadata.name).toBe('n');
});

test('deletions of the server are reviewed, and retried while they are denied', async () => {
  const seen: unknown[] = [];
  let denies = true;
  server.handle(
    'https://hooks.example.com',
    admissionWebhook(({ operation, name, oldObject, userInfo }) => {
      seen.push([operation, name, oldObject?.metadata.name, userInfo.username]);
      return { allowed: !denies, status: { message: 'not yet' } };
    }),
  );
  await client().create(Namespace({ metadata: { name: 'shop' } }));
  const make = (name: string, more: object = {}) =>
    client().create(ConfigMap({ metadata: { name, namespace: 'shop', labels: { kept: '1' }, ...more } }));
  const owner = await make('owner', { labels: {} });
  const { uid } = owner.metadata;
  await make('owned', { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }] });
  await make('other');
  await client().create(
    ValidatingWebhookConfiguration({
      metadata: { name: 'v' },
      webhooks: [
        webhook('https://hooks.example.com', {
          rules: [{ ...rule, operations: ['DELETE'] }],
          objectSelector: { matchLabels: { kept: '1' } },
        }),
      ],
    } as never),
  );
  await client().delete(ConfigMap, { namespace: 'shop', name: 'owner' });
  await server.idle();
  const collector = 'system:serviceaccount:kube-system:generic-garbage-collector';
  expect(seen).toEqual([['DELETE', 'owned', 'owned', collector]]);
  await clock.advance(5);
  await server.idle();
  expect(seen).toHaveLength(2);
  seen.length = 0;
  await client().delete(Namespace, { name: 'shop' });
  await server.idle();
  const controller = 'system:serviceaccount:kube-system:namespace-controller';
  expect(seen).toContainEqual(['DELETE', undefined, 'other', controller]);
  expect((await client().get(Namespace, { name: 'shop' })).status?.conditions).toContainEqual(
    expect.objectContaining({
      type: 'NamespaceDeletionContentFailure',
      reason: 'ContentDeletionFailed',
      message:
        'Failed to delete all resource types, 1 remaining: ' +
        'admission webhook "hook.example.com" denied the request: not yet',
    }),
  );
  denies = false;
  await clock.advance(1_000_000);
  await server.idle();
  expect(
    await client()
      .list(Namespace)
      .then(({ items }) => items.map(({ metadata }) => metadata.name)),
  ).not.toContain('shop');
});

test('a disabled plugin calls no webhook', async () => {
  await using other = await ApiServer.start({ clock, log, admission: { disable: ['ValidatingAdmissionWebhook'] } });
  const api = createClient(other.config, { runtime: { clock, log } });
  await api.create(
    ValidatingWebhookConfiguration({
      metadata: { name: 'v' },
      webhooks: [webhook('https://nowhere.example.com')],
    } as never),
  );
  expect((await api.create(configMap('a'))).metadata.name).toBe('a');
  const unknown = ApiServer.start({ admission: { disable: ['Nope'] } });
  await expect(unknown).rejects.toThrow('disable-admission-plugins plugin "Nope" is unknown');
  const missing = ApiServer.start({ admission: { enable: ['ImagePolicyWebhook'] } });
  await expect(missing).rejects.toThrow('plugin "ImagePolicyWebhook" is not part of this server');
});
