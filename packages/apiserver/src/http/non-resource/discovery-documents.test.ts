import { describe, expect, test } from 'vitest';
import { toyServer } from '../toy-server.fixture.js';

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const all = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const part = ['get', 'patch', 'update'];

interface Named {
  readonly name: string;
}

/** The entry of that name in a list of a document. */
function entry(document: Readonly<Record<string, unknown>>, list: string, name: string): unknown {
  return (document[list] as readonly Named[]).find((item) => item.name === name);
}

describe('discovery', () => {
  test('names the core group and the others, in the order of kube-apiserver', async () => {
    const { ask } = toyServer();
    const core = await ask({ path: '/api', headers: { host: '127.0.0.1:6443' } });
    expect(core.json).toEqual({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:6443' }],
    });
    const { json } = await ask({ path: '/apis/' });
    const names = (json.groups as readonly Named[]).map(({ name }) => name);
    expect(names.slice(0, 3)).toEqual(['apiregistration.k8s.io', 'apps', 'events.k8s.io']);
    expect(names.at(-1)).toBe('example.com');
    const version = (v: string) => ({ groupVersion: `autoscaling/${v}`, version: v });
    const autoscaling = {
      name: 'autoscaling',
      versions: [version('v2'), version('v1')],
      preferredVersion: version('v2'),
    };
    expect(entry(json, 'groups', 'autoscaling')).toEqual(autoscaling);
    const one = await ask({ path: '/apis/autoscaling' });
    expect(one.json).toEqual({ kind: 'APIGroup', apiVersion: 'v1', ...autoscaling });
  });

  test('names resources and subresources with all there is to know', async () => {
    const { ask } = toyServer();
    const { json } = await ask({ path: '/apis/apps/v1' });
    expect(json).toMatchObject({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'apps/v1' });
    expect(entry(json, 'resources', 'deployments')).toEqual({
      name: 'deployments',
      singularName: 'deployment',
      namespaced: true,
      kind: 'Deployment',
      verbs: all,
      shortNames: ['deploy'],
      categories: ['all'],
      storageVersionHash: '8aSe+NMegvE=',
    });
    const sub = { singularName: '', namespaced: true, verbs: part };
    expect(entry(json, 'resources', 'deployments/status')).toEqual({
      ...sub,
      name: 'deployments/status',
      kind: 'Deployment',
    });
    expect(entry(json, 'resources', 'deployments/scale')).toEqual({
      ...sub,
      name: 'deployments/scale',
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
    });
    const core = await ask({ path: '/api/v1' });
    expect(core.json.apiVersion).toBeUndefined();
    expect(entry(core.json, 'resources', 'nodes')).toMatchObject({ namespaced: false, shortNames: ['no'] });
  });

  test('lists everything in one document, with an ETag for clients that have it', async () => {
    const { ask, table } = toyServer();
    const read = (tag?: string) => ask({ path: '/apis', headers: { accept: aggregated, 'if-none-match': tag } });
    const first = await read();
    expect(first.headers).toMatchObject({ 'content-type': aggregated, 'cache-control': 'public', vary: 'Accept' });
    const etag = String(first.headers.etag);
    expect(etag).toMatch(/^"[0-9A-F]{128}"$/);
    const items = first.json.items as readonly { readonly metadata: Named; readonly versions: readonly unknown[] }[];
    const kind = { group: 'example.com', version: 'v1', kind: 'Foo' };
    const custom = items.find(({ metadata }) => metadata.name === 'example.com');
    expect(custom?.versions[0]).toMatchObject({
      version: 'v1',
      freshness: 'Current',
      resources: [
        { resource: 'foos', responseKind: kind, subresources: [{ subresource: 'status', responseKind: kind }] },
      ],
    });
    const apps = items.find(({ metadata }) => metadata.name === 'apps');
    const [resources] = (apps?.versions ?? []) as readonly {
      readonly resources: readonly { readonly resource: string }[];
    }[];
    expect(resources?.resources.find(({ resource }) => resource === 'deployments')).toMatchObject({
      responseKind: { group: '', version: '', kind: 'Deployment' },
      scope: 'Namespaced',
      singularResource: 'deployment',
    });
    const again = await read(etag);
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag]);
    table.setCustom('foos.example.com', []);
    const changed = await read(etag);
    expect([changed.status, changed.headers.etag === etag]).toEqual([200, false]);
    expect(changed.text).not.toContain('example.com');
    const core = await ask({ path: '/api', headers: { accept: aggregated } });
    expect((core.json.items as readonly unknown[])[0]).toMatchObject({ metadata: {}, versions: [{ version: 'v1' }] });
  });

  test('knows custom resources while they are served, the preferred version first', async () => {
    const { ask, table } = toyServer();
    const { json } = await ask({ path: '/apis/example.com' });
    expect(json.preferredVersion).toEqual({ groupVersion: 'example.com/v1', version: 'v1' });
    expect((json.versions as readonly { readonly version: string }[]).map(({ version }) => version)).toEqual([
      'v1',
      'v1alpha1',
    ]);
    expect((await ask({ path: '/apis/example.com/v2' })).text).toBe('404 page not found\n');
    table.setCustom('foos.example.com', []);
    for (const path of ['/apis/example.com', '/apis/example.com/v1', '/apis/example.com/v1/foos']) {
      expect((await ask({ path })).status, path).toBe(404);
    }
  });

  test.each([
    ['/api', 'text/html', '406: Not Acceptable'],
    ['/apis', 'text/html', 'only the following media types'],
    ['/apis/apps', `${aggregated}`, 'only the following media types'],
    ['/apis', aggregated.replace('v2', 'v2beta1'), 'only the following media types'],
  ])('of %s is refused for %s', async (path, accept, message) => {
    const reply = await toyServer().ask({ path, headers: { accept } });
    expect([reply.status, reply.message]).toEqual([406, expect.stringContaining(message)]);
  });
});

describe('beside resources', () => {
  test('there are paths, a version, and health', async () => {
    const { ask } = toyServer();
    const paths = (await ask({ path: '/' })).json.paths;
    expect(paths).toEqual(
      expect.arrayContaining(['/api', '/api/v1', '/apis/apps/v1', '/apis/example.com/v1', '/version']),
    );
    expect((await ask({ path: '/version' })).json).toMatchObject({
      major: '1',
      minor: '36',
      gitVersion: 'v1.36.3+riata',
    });
    expect((await ask({ path: '/version', headers: { accept: 'application/yaml' } })).status).toBe(406);
    const ready = await ask({ path: '/readyz' });
    expect([ready.text, ready.headers['content-type']]).toEqual(['ok', 'text/plain; charset=utf-8']);
    expect((await ask({ path: '/livez?verbose' })).text).toMatch(
      /^\[\+\]ping ok\n\[\+\]log ok\n(\[\+\]\S+ ok\n)+livez check passed\n$/,
    );
    expect((await ask({ path: '/healthz/ping' })).text).toBe('ok');
    expect((await ask({ path: '/healthz/nope' })).status).toBe(404);
  });
});
