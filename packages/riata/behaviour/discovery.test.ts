import { Discovery, isNoMatch, RestMapper, type ServerResources } from 'riata/client';
import { builtinScheme, ConfigMap } from 'riata/kinds';
import { makeKind } from 'riata/object';
import type { RestClient } from 'riata/rest';
import { isNotFound } from 'riata/rest';
import { expect, test } from 'vitest';
import { installKind } from './custom-kind.js';
import { describeServers, rejection, until } from './servers.js';

describeServers('discovery', (server) => {
  test('the aggregated form says the same as the one group by group', async () => {
    const read = async () =>
      [await server().client.discovery.resources(), await legacyDiscovery(server().client.rest).resources()] as const;
    // A real server shows new and removed kinds in one form of discovery before the other.
    const [aggregated, legacy] = await until('both know the same kinds', async () => {
      const forms = await read();
      const [one, other] = forms.map(({ groups, failures }) => [groups.map(({ name }) => name), [...failures.keys()]]);
      return JSON.stringify(one) === JSON.stringify(other) && forms;
    });
    expect([...aggregated.failures]).toEqual([]);
    expect([...legacy.failures]).toEqual([]);
    expect(aggregated.groups[0]?.name).toBe('');
    expect(aggregated.groups.map((group) => group.name)).toEqual(legacy.groups.map((group) => group.name));
    expect(sorted(aggregated)).toEqual(sorted(legacy));
  });

  test('every built-in kind that the server serves is as we know it', async () => {
    const { groups } = await server().client.discovery.resources();
    const scheme = builtinScheme();
    const served = groups.flatMap((group) => group.versions.flatMap((version) => version.resources));
    const differences = served.flatMap((resource) => {
      const known = scheme.kindFor(resource);
      if (known === undefined) return [];
      const { plural, scope, shortNames } = resource;
      const same = known.plural === plural && known.scope === scope && String(known.shortNames) === String(shortNames);
      return same ? [] : [{ resource, known: { ...known } }];
    });
    expect(differences).toEqual([]);
    const unknown = served.filter((resource) => scheme.kindFor(resource) === undefined && isBuiltIn(resource.group));
    expect(unknown).toEqual([]);
  });

  test('the server version', async () => {
    const version = await server().client.discovery.serverVersion();
    expect(version.major).toBe('1');
    expect(version.gitVersion).toMatch(/^v1\.\d+\.\d+/);
  });

  test('the mapper: by kind, plural, singular, short name, group and version', async () => {
    const { mapper } = server().client;
    const names = ['deployments', 'deployment', 'Deploy', 'deployments.apps', 'deploy.v1.apps'];
    for (const name of names) {
      expect({ name, ...(await mapper.kindForResource(name)).gvk }).toEqual({
        name,
        group: 'apps',
        version: 'v1',
        kind: 'Deployment',
      });
    }
    expect((await mapper.kindForResource('cm')).gvk).toEqual(ConfigMap.gvk);
    expect((await mapper.kindForResource('events')).apiVersion).toBe('v1');
    expect((await mapper.kindForResource('events.events.k8s.io')).apiVersion).toBe('events.k8s.io/v1');
    expect((await mapper.kindForGvk({ group: 'autoscaling', kind: 'HorizontalPodAutoscaler' })).version).toBe('v2');
    const pod = await mapper.kindFor({ apiVersion: 'v1', kind: 'Pod' });
    expect(pod.subresources).toEqual(expect.arrayContaining(['status', 'log', 'eviction', 'binding']));
  });

  test('a kind installed after the mapper has looked is found; one that is not there is NoMatch', async () => {
    const { client } = server();
    const mapper = new RestMapper(client.discovery);
    await mapper.kindForResource('pods');
    const missing = await rejection(mapper.kindFor({ apiVersion: 'none.riata.dev/v1', kind: 'Widget' }));
    expect(missing).toSatisfy(isNoMatch);
    expect(missing.message).toContain('none.riata.dev/v1');
    await expect(mapper.kindForResource('cheeses')).rejects.toThrow('no matches for resource "cheeses"');
    await expect(mapper.kindForGvk({ group: 'apps', version: 'v9', kind: 'Deployment' })).rejects.toSatisfy(isNoMatch);

    const Unserved = makeKind({ group: '', version: 'v1', kind: 'Cheese', plural: 'cheeses', scope: 'Cluster' });
    await expect(client.find(Unserved, { name: 'a' })).rejects.toSatisfy(isNotFound);
    await expect(client.list(Unserved)).rejects.toThrow('the server could not find the requested resource');

    const Widget = await installKind(server());
    const found = await mapper.kindFor({ apiVersion: Widget.apiVersion, kind: 'Widget' });
    expect(found.gvr).toEqual(Widget.gvr);
    expect({ ...found }).toMatchObject({ scope: 'Namespaced', shortNames: ['wdg'], subresources: ['status', 'scale'] });
    expect(await mapper.kindForResource(`wdg.${Widget.group}`)).toBe(found);
    const namespace = await server().namespace();
    await client.create(Widget({ metadata: { namespace, name: 'a' }, spec: { a: 1 } }));
    expect((await client.get(found, { namespace, name: 'a' })).spec).toEqual({ a: 1 });
  });
});

/** Requests plain JSON whatever it accepts, as a client before the aggregated form did. */
function legacyDiscovery(rest: RestClient): Discovery {
  const legacy = Object.create(rest, {
    get: {
      value: () => {
        const request = rest.get();
        const setHeader = request.setHeader.bind(request);
        request.setHeader = (name, ...values) =>
          name === 'accept' ? setHeader('accept', 'application/json') : setHeader(name, ...values);
        return request;
      },
    },
  }) as RestClient;
  return new Discovery(legacy);
}

function sorted({ groups }: ServerResources): object[] {
  return groups
    .flatMap((group) => group.versions.flatMap((version) => version.resources))
    .map((resource) => ({
      ...resource,
      verbs: [...resource.verbs].sort(),
      subresources: [...resource.subresources].sort(),
    }))
    .sort((a, b) => idOf(a).localeCompare(idOf(b)));
}

function idOf({ group, version, plural }: { group: string; version: string; plural: string }): string {
  return `${group}/${version}/${plural}`;
}

function isBuiltIn(group: string): boolean {
  return group === '' || !group.includes('.') || group.endsWith('.k8s.io');
}
