import { describe, expect, test } from 'vitest';
import { RestClient } from '../../rest/rest-client.js';
import { type Answer, answeringTransport } from '../../rest/transport/answering-transport.fixture.js';
import type { TransportRequest } from '../../rest/transport/transport.js';
import { Discovery } from './discovery.js';
import { isNoMatch, RestMapper } from './rest-mapper.js';

const json = { 'content-type': 'application/json' };

function serve(paths: Record<string, Answer | object>) {
  const transport = answeringTransport((request) => {
    const found = paths[request.path];
    if (found === undefined)
      return { status: 404, headers: json, body: { kind: 'Status', status: 'Failure', code: 404 } };
    return 'body' in found || 'status' in found ? found : { status: 200, headers: json, body: found };
  });
  const discovery = new Discovery(RestClient.for({ server: 'http://a', transport }));
  return { discovery, mapper: new RestMapper(discovery), asked: () => transport.requests.map((r) => r.path) };
}

const legacy = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/api/v1': {
    kind: 'APIResourceList',
    resources: [
      { name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs: ['get', 'list'], shortNames: ['po'] },
      { name: 'pods/log', singularName: '', namespaced: true, kind: 'Pod', verbs: ['get'] },
      { name: 'events', singularName: 'event', namespaced: true, kind: 'Event', verbs: ['list'], shortNames: ['ev'] },
    ],
  },
  '/apis': {
    kind: 'APIGroupList',
    groups: [
      {
        name: 'x.dev',
        versions: [
          { groupVersion: 'x.dev/v1alpha1', version: 'v1alpha1' },
          { groupVersion: 'x.dev/v1', version: 'v1' },
        ],
        preferredVersion: { groupVersion: 'x.dev/v1', version: 'v1' },
      },
      { name: 'down.dev', versions: [{ groupVersion: 'down.dev/v1', version: 'v1' }] },
    ],
  },
  '/apis/x.dev/v1': {
    resources: [
      { name: 'gadgets', singularName: 'gadget', namespaced: false, kind: 'Gadget', verbs: [], shortNames: ['po'] },
    ],
  },
  '/apis/x.dev/v1alpha1': {
    resources: [{ name: 'gadgets', singularName: 'gadget', namespaced: false, kind: 'Gadget', verbs: [] }],
  },
  '/apis/down.dev/v1': { status: 503, headers: json, body: { kind: 'Status', status: 'Failure', code: 503 } },
} satisfies Record<string, Answer | object>;

const aggregated = {
  '/api': {
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        metadata: {},
        versions: [
          {
            version: 'v1',
            freshness: 'Current',
            resources: [
              {
                resource: 'pods',
                singularResource: 'pod',
                responseKind: { kind: 'Pod' },
                scope: 'Namespaced',
                verbs: ['get'],
                shortNames: ['po'],
                subresources: [{ subresource: 'status' }, { subresource: 'log' }],
              },
            ],
          },
        ],
      },
    ],
  },
  '/apis': {
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        metadata: { name: 'stale.dev' },
        versions: [{ version: 'v1', freshness: 'Stale' }],
      },
    ],
  },
};

describe('Discovery', () => {
  test('the aggregated documents: two requests; a stale group is a failure, not an error', async () => {
    const { discovery, asked } = serve(aggregated);
    const { groups, failures } = await discovery.resources();
    expect(asked()).toEqual(['/api', '/apis']);
    expect(groups[0]?.versions[0]?.resources).toEqual([
      {
        group: '',
        version: 'v1',
        kind: 'Pod',
        plural: 'pods',
        singular: 'pod',
        scope: 'Namespaced',
        verbs: ['get'],
        shortNames: ['po'],
        categories: [],
        subresources: ['status', 'log'],
      },
    ]);
    expect([...failures.keys()]).toEqual(['stale.dev/v1']);
  });

  test('asks for the aggregated form first', async () => {
    const seen: TransportRequest[] = [];
    const transport = answeringTransport((request) => {
      seen.push(request);
      return { status: 200, headers: json, body: aggregated[request.path as '/api'] };
    });
    await new Discovery(RestClient.for({ server: 'http://a', transport })).resources();
    expect(seen[0]?.headers.accept).toMatch(
      /^application\/json;g=apidiscovery\.k8s\.io;v=v2;as=APIGroupDiscoveryList,/,
    );
  });

  test('an old server group by group; a version that fails does not hide the others', async () => {
    const { discovery } = serve(legacy);
    const { groups, failures } = await discovery.resources();
    expect(groups.map((g) => [g.name, g.versions.map((v) => v.version)])).toEqual([
      ['', ['v1']],
      ['x.dev', ['v1', 'v1alpha1']],
      ['down.dev', ['v1']],
    ]);
    expect(groups[0]?.versions[0]?.resources[0]).toMatchObject({ plural: 'pods', subresources: ['log'] });
    expect([...failures.keys()]).toEqual(['down.dev/v1']);
  });

  test('a server without core group', async () => {
    const { discovery } = serve({ '/apis': { kind: 'APIGroupList', groups: [] } });
    expect((await discovery.resources()).groups).toEqual([]);
  });

  test('something that is no API server says so', async () => {
    const { discovery } = serve({ '/api': { kind: 'Banana' } });
    await expect(discovery.resources()).rejects.toThrow('expected a list of API groups, got kind "Banana"');
  });
});

describe('RestMapper', () => {
  test('finds kinds by plural, singular and short name, core before others, and by group and version', async () => {
    const { mapper } = serve(legacy);
    for (const name of ['pods', 'pod', 'po', 'PODS', 'pods.v1.']) {
      expect((await mapper.kindForResource(name)).kind).toBe('Pod');
    }
    expect((await mapper.kindForResource('gadgets')).apiVersion).toBe('x.dev/v1');
    expect((await mapper.kindForResource('gadgets.x.dev')).apiVersion).toBe('x.dev/v1');
    expect((await mapper.kindForResource('gadgets.v1alpha1.x.dev')).apiVersion).toBe('x.dev/v1alpha1');
    expect((await mapper.kindForGvk({ group: 'x.dev', kind: 'Gadget' })).version).toBe('v1');
    expect((await mapper.kindFor({ apiVersion: 'x.dev/v1alpha1', kind: 'Gadget' })).scope).toBe('Cluster');
  });

  test('how a kind is reached: as the server prefers it, or in the first of some versions that it serves', async () => {
    const { mapper } = serve(legacy);
    const gadget = { group: 'x.dev', kind: 'Gadget' };
    const reached = (version: string) => ({
      resource: { group: 'x.dev', version, resource: 'gadgets' },
      groupVersionKind: { ...gadget, version },
      scope: 'Cluster',
    });
    expect(await mapper.restMapping(gadget)).toEqual(reached('v1'));
    expect(await mapper.restMapping(gadget, 'v9', 'v1alpha1', 'v1')).toEqual(reached('v1alpha1'));
    const error: unknown = await mapper.restMapping(gadget, 'v8', 'v9').catch((e: unknown) => e);
    expect(isNoMatch(error)).toBe(true);
    expect(String(error)).toContain('no matches for kind x.dev/v8 or v9, Kind=Gadget');
  });

  test('one load for all who wait, none once it is known, and the same Kind every time', async () => {
    const { mapper, asked } = serve(aggregated);
    const all = await Promise.all([1, 2, 3].map(() => mapper.kindForResource('po')));
    expect(asked()).toHaveLength(2);
    expect(new Set([...all, await mapper.kindForResource('pods')]).size).toBe(1);
    expect(asked()).toHaveLength(2);
  });

  test('a miss asks again, for the one group alone, and finds what was installed since', async () => {
    const paths: Record<string, object> = { ...legacy };
    const { mapper, asked } = serve(paths);
    await mapper.resources();
    const before = asked().length;
    paths['/apis/new.dev'] = { name: 'new.dev', versions: [{ groupVersion: 'new.dev/v1', version: 'v1' }] };
    paths['/apis/new.dev/v1'] = { resources: [{ name: 'foos', namespaced: true, kind: 'Foo', verbs: [] }] };
    expect((await mapper.kindFor({ apiVersion: 'new.dev/v1', kind: 'Foo' })).plural).toBe('foos');
    expect(asked().slice(before)).toEqual(['/apis/new.dev', '/apis/new.dev/v1']);
  });

  test('what is not served is a NoMatchError that names it, and the groups that could not be asked', async () => {
    const { mapper } = serve(legacy);
    const error: unknown = await mapper.kindFor({ apiVersion: 'x.dev/v1', kind: 'Nope' }).catch((e: unknown) => e);
    expect(isNoMatch(error)).toBe(true);
    expect(String(error)).toContain('no matches for kind x.dev/v1, Kind=Nope');
    expect(String(error)).toContain('these could not be asked: down.dev/v1');
    await expect(mapper.kindForResource('nopes')).rejects.toSatisfy(isNoMatch);
  });

  test('a group that works again is no failure any more', async () => {
    const paths: Record<string, object> = { ...legacy };
    const { mapper } = serve(paths);
    expect([...(await mapper.resources()).failures.keys()]).toEqual(['down.dev/v1']);
    paths['/apis/down.dev'] = { name: 'down.dev', versions: [{ groupVersion: 'down.dev/v1', version: 'v1' }] };
    paths['/apis/down.dev/v1'] = { resources: [{ name: 'foos', namespaced: true, kind: 'Foo', verbs: [] }] };
    expect((await mapper.kindFor({ apiVersion: 'down.dev/v1', kind: 'Foo' })).plural).toBe('foos');
    expect((await mapper.resources()).failures.size).toBe(0);
    await expect(mapper.kindFor({ apiVersion: 'x.dev/v1', kind: 'Nope' })).rejects.toThrow(/CRD installed\?$/);
  });

  test('a failed load is not remembered', async () => {
    const paths: Record<string, object> = { '/api': { status: 500, body: 'no' } };
    const { mapper } = serve(paths);
    await expect(mapper.kindForResource('pods')).rejects.toThrow();
    Object.assign(paths, legacy);
    expect((await mapper.kindForResource('pods')).kind).toBe('Pod');
  });

  test('reset forgets', async () => {
    const { mapper, asked } = serve(aggregated);
    await mapper.kindForResource('pods');
    mapper.reset();
    await mapper.kindForResource('pods');
    expect(asked()).toHaveLength(4);
  });
});
