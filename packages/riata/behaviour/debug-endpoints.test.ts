import { get } from 'node:http';
import { control } from 'riata/controller';
import { ClusterRole, ClusterRoleBinding, ConfigMap, Event, Secret, ServiceAccount } from 'riata/kinds';
import { defineKind } from 'riata/object';
import { Controllers } from 'riata/patterns';
import { SharedControllerFactory } from 'riata/shared';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { describeServers, testOn, uniqueName, until } from './servers.js';

const Vault = defineKind({
  group: `${uniqueName('d')}.riata.dev`,
  version: 'v1',
  kind: 'Vault',
  spec: z.object({ size: z.int().default(1), password: z.string() }),
  status: z.object({ done: z.boolean() }),
});

/** Writes a Secret and a ConfigMap; fails while the size is 13. */
const vaults = control(Vault)
  .owns(Secret)
  .owns(ConfigMap)
  .reconcile(async ({ object, apply, status }) => {
    if (object.spec.size === 13) throw new Error('unlucky size');
    const { name, namespace } = object.metadata;
    await apply(Secret({ metadata: { name, namespace }, stringData: { password: object.spec.password } }));
    await apply(ConfigMap({ metadata: { name, namespace }, data: { size: `${object.spec.size}` } }));
    await status({ done: true });
  });

const local = { metrics: { host: '127.0.0.1', port: 0, debug: true } };

interface StreamEvent {
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: each event has a shape of its own
  readonly data: any;
}

/** Reads events until the one that is asked for. */
async function* events(url: string, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  const response = await fetch(`${url}/debug/stream`, { signal });
  let text = '';
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += new TextDecoder().decode(part);
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = /^event: (.*)$/m.exec(block)?.[1];
      if (event !== undefined) yield { event, data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '') };
    }
  }
}

describeServers('debug endpoints', (server) => {
  beforeAll(async () => {
    await server().install(Vault);
    server().keep();
  });

  const started = async (options: object = local) => {
    const run = await server().startManager({ ...options, run: [vaults] });
    await until('it listens', async () => run.manager.urls.metrics !== undefined);
    return { run, url: run.manager.urls.metrics as string };
  };
  const ask = async (url: string, path: string, init: RequestInit = {}) => {
    const headers = { connection: 'close', ...(init.headers as Record<string, string>) };
    const response = await fetch(`${url}${path}`, { ...init, headers });
    const text = await response.text();
    return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : undefined };
  };
  const pathOf = (namespace: string, kind: { apiVersion: string; kind: string }, name = 'a') =>
    `/debug/object?apiVersion=${kind.apiVersion}&kind=${kind.kind}&namespace=${namespace}&name=${name}`;

  test('the stream has a snapshot, then what has changed and what was reconciled', async () => {
    const namespace = await server().namespace();
    const { client } = server();
    const { run, url } = await started();
    await using _run = run;
    await run.manager.elected;
    const stop = new AbortController();
    const seen: StreamEvent[] = [];
    const reading = (async () => {
      for await (const event of events(url, stop.signal)) seen.push(event);
    })().catch(() => {});
    await until('a snapshot', async () => seen.some(({ event }) => event === 'snapshot'));
    expect(seen[0]).toMatchObject({ event: 'snapshot', data: { version: 1, state: { clusters: [{ id: '' }] } } });
    await client.create(Vault({ metadata: { namespace, name: 'a' }, spec: { password: 'xyzzy' } }));
    await client.create(Vault({ metadata: { namespace, name: 'bad' }, spec: { size: 13, password: 'xyzzy' } }));
    const records = () => seen.flatMap(({ event, data }) => (event === 'reconciles' ? data.records : []));
    await until('both were reconciled', async () => {
      const names = records().map(({ key, outcome }) => `${key.name} ${outcome}`);
      return names.includes('a success') && names.includes('bad error');
    });
    const failing = () =>
      seen.flatMap(({ event, data }) => (event === 'delta' ? (data.changed.controllers ?? []) : [])).at(-1)
        ?.failingKeys;
    await until('a delta says what fails', async () => failing()?.length === 1);
    expect(failing()).toMatchObject([
      {
        key: { name: 'bad' },
        error: 'Error: unlucky size',
        errorAt: expect.stringContaining('debug-endpoints.test.ts'),
      },
    ]);
    expect(failing()[0].retryAt).toBeGreaterThan(failing()[0].at);
    expect(JSON.stringify(seen)).not.toContain('xyzzy');
    stop.abort();
    await reading;
  });

  test('shared controllers of the manager are shown beside its own: their kinds, runs, causes and writes', async () => {
    const namespace = await server().namespace();
    const { client } = server();
    const { run, url } = await started();
    await using _run = run;
    const { manager } = run;
    await manager.elected;
    const listening = new AbortController();
    const seen: StreamEvent[] = [];
    const reading = (async () => {
      for await (const event of events(url, listening.signal)) seen.push(event);
    })().catch(() => {});
    await until('the snapshot', async () => seen.length > 0);
    // Added while someone looks.
    const controllers = new Controllers(SharedControllerFactory.fromManager(manager, { everywhere: true }));
    const stop = new AbortController();
    controllers.for(ConfigMap).onChange(
      'greet',
      async (_, map, { signal }) => {
        if (map?.metadata.namespace === namespace && map.data?.greeting === undefined) {
          return await controllers.for(ConfigMap).client.update({ ...map, data: { greeting: 'hello' } }, { signal });
        }
        return map;
      },
      stop,
    );
    const added = manager.add(controllers);
    await until('it runs', async () => (await ask(url, '/debug/controllers')).text.includes('configmaps.v1'));
    await client.create(ConfigMap({ metadata: { namespace, name: 'shared' }, data: {} }));
    const isOwn = ({ controller, key }: { controller: string; key: { name: string } }) =>
      controller === 'configmaps.v1' && key.name === 'shared';
    const record = await until('its run is streamed', async () =>
      seen
        .filter(({ event }) => event === 'reconciles')
        .flatMap(({ data }) => data.records)
        .find((each) => isOwn(each) && each.writes.length > 0),
    );
    expect(record).toMatchObject({ writes: [{ verb: 'update', object: `ConfigMap ${namespace}/shared` }] });
    const state = await until('its state is streamed', async () =>
      seen
        .filter(({ event }) => event === 'delta')
        .flatMap(({ data }) => data.changed.controllers ?? [])
        .find(({ id, outcomes }) => id === 'configmaps.v1' && outcomes.success > 0),
    );
    expect(state).toMatchObject({ kind: { kind: 'ConfigMap' }, phase: 'running' });
    const explained = JSON.parse((await ask(url, '/debug/reconciles?controller=configmaps.v1')).text);
    expect(explained.some(isOwn)).toBe(true);
    // Their own views stay apart.
    expect(manager.explain.some(isOwn)).toBe(false);
    await added.remove();
    expect((await ask(url, '/debug/controllers')).text).not.toContain('configmaps.v1');
    listening.abort();
    await reading;
  });

  test('an object is shown with its writes as diffs, its owners and events, and secrets masked', async () => {
    const namespace = await server().namespace();
    const { client } = server();
    const { run, url } = await started();
    await using _run = run;
    const vault = await client.create(Vault({ metadata: { namespace, name: 'a' }, spec: { password: 'xyzzy' } }));
    const size = async () => (await client.find(ConfigMap, { namespace, name: 'a' }))?.data?.size;
    await until('it was reconciled', async () => (await size()) === '1');
    await client.patch(
      Vault,
      { namespace, name: 'a' },
      { type: 'merge', body: { spec: { size: 2, password: 'plugh' } } },
    );
    await until('it was reconciled again', async () => (await size()) === '2');
    const config = await ask(url, pathOf(namespace, ConfigMap));
    expect(config.body.writes.at(-1)).toMatchObject({
      verb: 'patch',
      compared: 'stored',
      changes: [{ path: 'data.size', before: '1', after: '2' }],
    });
    expect(config.body.owners).toMatchObject([{ kind: 'Vault', name: 'a', uid: vault.metadata.uid, isKnown: true }]);
    expect(config.body.object.metadata.managedFields).toHaveLength(1);
    await until('the Secret was written', async () => {
      const { writes } = (await ask(url, pathOf(namespace, Secret))).body;
      return writes.length === 2;
    });
    const secret = await ask(url, pathOf(namespace, Secret));
    expect(secret.body.object.data).toEqual({ password: '••••••' });
    expect(secret.body.writes.at(-1).changes).toEqual([{ path: 'data.password', before: '••••••', after: '••••••' }]);
    for (const hidden of ['xyzzy', 'plugh'].flatMap((text) => [text, btoa(text)])) {
      expect(secret.text).not.toContain(hidden);
    }
    const owned = (await ask(url, pathOf(namespace, Vault))).body;
    expect(owned.owned.map(({ kind }: { kind: string }) => kind).sort()).toEqual(['ConfigMap', 'Secret']);
    const found = await ask(url, `/debug/objects?q=${namespace}`);
    expect(found.body.objects.map(({ kind }: { kind: string }) => kind).sort()).toEqual([
      'ConfigMap',
      'Secret',
      'Vault',
    ]);
    const listed = await ask(url, `/debug/objects?apiVersion=v1&kind=Secret&q=${namespace}`);
    expect(listed.body).toMatchObject({ isWhole: true, objects: [{ namespace, name: 'a' }] });
    expect((await ask(url, pathOf(namespace, { apiVersion: 'v1', kind: 'Node' }))).status).toBe(404);
    expect((await ask(url, pathOf(namespace, Vault, 'gone'))).body).toEqual({ object: null, writes: [] });
  });

  test('copies of an object in annotations, and patches of Secrets, show no value in any payload', async () => {
    const namespace = await server().namespace();
    const { client } = server();
    const { run, url } = await started();
    await using _run = run;
    const copy = JSON.stringify({ data: { password: btoa('xyzzy') } });
    const annotations = {
      'kubectl.kubernetes.io/last-applied-configuration': copy,
      'objectset.rio.cattle.io/applied': copy,
      other: 'shown',
    };
    await client.create(Vault({ metadata: { namespace, name: 'a' }, spec: { password: 'xyzzy' } }));
    const key = { namespace, name: 'a' };
    await until('the Secret exists', async () => (await client.find(Secret, key)) !== undefined);
    await client.patch(Secret, key, { type: 'merge', body: { metadata: { annotations } } });
    // Writes of the operator itself are shown as diffs.
    const data = { password: btoa('xyzzy'), more: btoa('plugh') };
    await run.manager.client.patch(Secret, key, { type: 'merge', body: { data, metadata: { annotations } } });
    await run.manager.client.patch(Secret, key, {
      type: 'json',
      body: [{ op: 'add', path: '/data/third', value: btoa('xyzzy') }],
    });
    const paths = [
      pathOf(namespace, Secret),
      ...['/debug/objects?apiVersion=v1&kind=Secret', `/debug/objects?q=${namespace}`],
      ...['/debug/reconciles', '/debug/webhooks', '/debug/controllers', '/debug/informers', '/debug/process'],
    ];
    const texts = await Promise.all(paths.map(async (path) => (await ask(url, path)).text));
    for (const hidden of ['xyzzy', 'plugh'].flatMap((text) => [text, btoa(text)])) {
      expect(texts.filter((text) => text.includes(hidden))).toEqual([]);
    }
    const { object, writes } = JSON.parse(texts[0] ?? '');
    expect(object.metadata.annotations).toMatchObject({ other: 'shown', 'objectset.rio.cattle.io/applied': '••••••' });
    expect(Object.keys(object.data).sort()).toEqual(['more', 'password', 'third']);
    expect(writes.length).toBeGreaterThanOrEqual(3);
  });

  test('an error that quotes a Secret shows no value in any payload', async () => {
    const namespace = await server().namespace();
    const { client } = server();
    await client.create(Secret({ metadata: { namespace, name: 'login' }, stringData: { password: 'xyzzy-plugh' } }));
    const leaking = control(Vault, { name: 'leaking' }).reconcile(async ({ object, client: own }) => {
      if (object.metadata.namespace !== namespace) return;
      const { data = {} } = await own.get(Secret, { namespace, name: 'login' });
      const password = Buffer.from(data.password ?? '', 'base64').toString();
      throw new Error(`cannot log in as ${password} (${data.password}) with token=abc123`);
    });
    // So that Events are cached, and have pages of their own.
    const watching = control(Event, { name: 'watching' }).reconcile(() => {});
    const run = await server().startManager({ ...local, run: [leaking, watching] });
    await until('it listens', async () => run.manager.urls.metrics !== undefined);
    const url = run.manager.urls.metrics as string;
    await client.create(Vault({ metadata: { namespace, name: 'a' }, spec: { password: 'other' } }));
    await until('it fails', async () => run.manager.explain.some(({ error }) => error?.includes('xyzzy-plugh')));
    const masked = 'Error: cannot log in as •••••• (••••••) with token=••••••';
    const pages = await Promise.all(['/debug/reconciles', '/debug/controllers'].map((path) => ask(url, path)));
    const stop = new AbortController();
    for await (const { event, data } of events(url, stop.signal)) {
      expect(event).toBe('snapshot');
      expect(data.state.controllers.find(({ id }: { id: string }) => id === 'leaking').failingKeys).toMatchObject([
        { error: masked },
      ]);
      pages.push({ status: 200, text: JSON.stringify(data), body: undefined });
      break;
    }
    stop.abort();
    pages.push(await ask(url, pathOf(namespace, Vault)));
    const involvedObject = { namespace, name: 'a', kind: 'Vault' };
    const message = 'cannot log in as xyzzy-plugh';
    await client.create(Event({ metadata: { namespace, name: 'quoting' }, involvedObject, message }));
    pages.push(await ask(url, pathOf(namespace, Event, 'quoting')));
    expect(pages.at(-1)?.body.object.message).toBe('cannot log in as ••••••');
    expect(pages[0]?.text).toContain(masked);
    for (const { text } of pages) expect(text).not.toMatch(/xyzzy-plugh|abc123/);
    expect(pages.map(({ text }) => text).join()).not.toContain(Buffer.from('xyzzy-plugh').toString('base64'));
    await client.delete(Vault, { namespace, name: 'a' });
  });

  test('the lag of a cache is measured by a watch of its own, while objects change and while none do', async () => {
    const namespace = await server().namespace();
    const { client } = server();
    const { url } = await started();
    const lags = async () => (await ask(url, '/debug/cache-lag')).body.caches as { id: string; lagMs?: number }[];
    await until('all caches are listed', async () => (await ask(url, '/debug/informers')).text.includes('"watching"'));
    const stop = new AbortController();
    const changing = (async () => {
      for (let at = 0; !stop.signal.aborted; at += 1) {
        await client.create(ConfigMap({ metadata: { namespace, name: `lag-${at}` }, data: {} }));
      }
    })();
    const measured = await lags();
    stop.abort();
    await changing;
    expect(measured.map(({ id }) => id)).toContain('configmaps');
    for (const each of measured) {
      expect(each).toEqual({ id: each.id, lagMs: expect.any(Number) });
      expect(each.lagMs).toBeLessThan(2_000);
    }
  });

  testOn(['in-process'], 'a cache whose watch is held back is behind, and after a new watch it is not', async () => {
    const namespace = await server().namespace();
    const { client, faults } = server();
    let isHeld = false;
    // Of the cache alone, which is the first to watch: a measurement opens a watch of its own.
    faults.add({ verb: 'watch', kind: ConfigMap }, { eventDelayMs: () => (isHeld ? 3_600_000 : 0) }, { times: 1 });
    const { run, url } = await started();
    await using _run = run;
    await run.manager.elected;
    const lagOf = async (id: string) => {
      const { caches } = (await ask(url, '/debug/cache-lag')).body;
      return (caches as { id: string; lagMs?: number; isAtLeast?: boolean }[]).find((each) => each.id === id);
    };
    isHeld = true;
    await client.create(ConfigMap({ metadata: { namespace, name: 'held' }, data: {} }));
    const behind = await lagOf('configmaps');
    expect(behind).toMatchObject({ isAtLeast: true });
    expect(behind?.lagMs).toBeGreaterThanOrEqual(2_000);
    expect(await lagOf('secrets')).toEqual({ id: 'secrets', lagMs: 0 });
    expect(await run.manager.cache.find(ConfigMap, { namespace, name: 'held' })).toBeUndefined();
    isHeld = false;
    faults.dropConnections();
    await until('it has caught up', async () => (await lagOf('configmaps'))?.lagMs === 0);
    expect(await run.manager.cache.find(ConfigMap, { namespace, name: 'held' })).toBeDefined();
  });

  test('without a token, pages are for this machine alone: another name in Host is refused', async () => {
    const { run, url } = await started();
    await using _run = run;
    const statusOf = (path: string, host: string) =>
      new Promise((done) => {
        get(`${url}${path}`, { headers: { host, connection: 'close' } }, (answer) => {
          answer.resume();
          done(answer.statusCode);
        });
      });
    for (const path of ['/debug/stream', '/debug/process', '/debug/objects?q=a']) {
      expect(await statusOf(path, 'evil.example.com')).toBe(421);
    }
    expect(await statusOf('/debug/process', 'localhost:1234')).toBe(200);
    // Scrapers may use any name.
    expect(await statusOf('/metrics', 'metrics.example.com')).toBe(200);
  });

  test('conditions have a history, and a page that is up to date gets no answer twice', async () => {
    const namespace = await server().namespace();
    const { client } = server();
    const { run, url } = await started();
    await using _run = run;
    const key = { namespace, name: 'a' };
    await client.create(Vault({ metadata: key, spec: { size: 13, password: 'xyzzy' } }));
    const path = pathOf(namespace, Vault);
    const changes = async () => (await ask(url, path)).body.conditionChanges ?? [];
    await until('it is not ready', async () => (await changes()).some(({ status = '' }) => status === 'False'));
    await client.patch(Vault, key, { type: 'merge', body: { spec: { size: 1 } } });
    await until('it is ready', async () => (await changes()).at(-1)?.status === 'True');
    const ready = (await changes()).filter(({ type = '' }) => type === 'Ready');
    expect(ready.map(({ status = '' }) => status)).toEqual(['False', 'True']);
    expect(ready[0].at).toBeLessThanOrEqual(ready[1].at);
    const { resourceVersion } = (await client.get(Vault, key)).metadata;
    await until('the cache has it', async () => {
      return (await ask(url, `${path}&seen=${resourceVersion}`)).body.unchanged === true;
    });
    expect((await ask(url, `${path}&seen=1`)).body.object.metadata.name).toBe('a');
  });

  test('actions pause, resume and trigger, are recorded as Events, and are refused to other sites', async () => {
    const namespace = await server().namespace();
    const { client } = server();
    const { run, url } = await started();
    await using _run = run;
    const key = { namespace, name: 'a' };
    await client.create(Vault({ metadata: key, spec: { password: 'xyzzy' } }));
    const act = (action: string, headers: Record<string, string> = { 'x-riata-action': '1' }) => {
      const body = JSON.stringify({ action, apiVersion: Vault.apiVersion, kind: Vault.kind, ...key });
      return ask(url, '/debug/actions', { method: 'POST', headers, body });
    };
    const annotations = async () => (await client.get(Vault, key)).metadata.annotations;
    expect(await act('pause', {})).toMatchObject({ status: 403 });
    expect(await act('pause', { 'x-riata-action': '1', 'sec-fetch-site': 'cross-site' })).toMatchObject({
      status: 403,
    });
    expect(await act('explode')).toMatchObject({ status: 400 });
    expect(await annotations()).toBeUndefined();
    expect(await act('pause')).toMatchObject({ status: 200, body: { done: 'pause' } });
    expect(await annotations()).toMatchObject({ 'riata.dev/pause': 'true' });
    expect(await act('resume')).toMatchObject({ status: 200 });
    expect((await annotations())?.['riata.dev/pause']).toBeUndefined();
    expect(await act('reconcile')).toMatchObject({ status: 200 });
    expect(await annotations()).toHaveProperty(['riata.dev/reconcile-at']);
    await until('Events say who did it', async () => {
      const { items } = await client.list(Event, { namespace });
      const reasons = items.filter(({ reportingComponent }) => reportingComponent === 'riata-dashboard');
      return new Set(reasons.map(({ reason }) => reason)).size === 3;
    });
  });

  test('protected, everything needs a token, and shows and does what its user may', async () => {
    const namespace = await server().namespace();
    const { client } = server();
    const viewer = ServiceAccount({ metadata: { namespace, name: 'viewer' } });
    await client.create(viewer);
    const role = uniqueName('viewer');
    await client.create(
      ClusterRole({
        metadata: { name: role },
        rules: [
          { nonResourceURLs: ['/debug/*'], verbs: ['get'] },
          { apiGroups: [Vault.group], resources: ['vaults'], verbs: ['get', 'list'] },
        ],
      }),
    );
    const subjects = [{ kind: 'ServiceAccount', namespace, name: 'viewer' }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role };
    await client.create(ClusterRoleBinding({ metadata: { name: role }, subjects, roleRef }));
    const { run, url } = await started({ metrics: { ...local.metrics, protected: true } });
    await using _run = run;
    await client.create(Vault({ metadata: { namespace, name: 'a' }, spec: { password: 'xyzzy' } }));
    await until('the Secret exists', async () => (await client.find(Secret, { namespace, name: 'a' })) !== undefined);
    const paths = ['/debug/stream', pathOf(namespace, Vault), '/debug/objects?q=a', '/debug/reconciles'];
    for (const path of paths) expect((await ask(url, path)).status).toBe(401);
    const { status } = await client
      .subresource('token')
      .create<{ status: { token: string } }>(ServiceAccount, { namespace, name: 'viewer' }, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        metadata: {},
        spec: { audiences: [] },
      } as never);
    const headers = { authorization: `Bearer ${status.token}` };
    const shown = await ask(url, pathOf(namespace, Vault), { headers });
    expect(shown).toMatchObject({ status: 200, body: { actions: { allowed: false } } });
    expect(shown.body.owned).toEqual([]);
    expect(await ask(url, pathOf(namespace, Secret), { headers })).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('may not get secrets "a"') },
    });
    const found = await ask(url, `/debug/objects?q=${namespace}`, { headers });
    expect(found.body.objects).toMatchObject([{ kind: 'Vault' }]);
    expect(found.body.hidden).toHaveLength(2);
    const body = JSON.stringify({ action: 'pause', apiVersion: Vault.apiVersion, kind: 'Vault', namespace, name: 'a' });
    const asked = { method: 'POST', body, headers: { ...headers, 'x-riata-action': '1' } };
    expect(await ask(url, '/debug/actions', asked)).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('may not patch vaults.') },
    });
    expect((await client.get(Vault, { namespace, name: 'a' })).metadata.annotations).toBeUndefined();
  });
});
