import { describe, expect, test } from 'vitest';
import { createClient } from '../../client/index.js';
import { control } from '../../controller/index.js';
import { ConfigMap, CronJob, Deployment, Job, Secret, Service } from '../../kinds/index.js';
import { defineKind } from '../../object/index.js';
import { silentLogger } from '../../runtime/index.js';
import { SharedControllerFactory } from '../../shared/index.js';
import { registerNeedACert } from '../certificates/register-need-a-cert.js';
import { Controllers } from '../controllers.js';
import { Apply } from '../desired-set/apply.js';
import { registerGeneratingHandler } from '../generating/generating-handler.js';
import { collectRbac, type PolicyRule, rbacManifests } from './collect-rbac.js';

const Foo = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Foo',
  spec: { type: 'object', properties: { secretName: { type: 'string' } } },
  status: { type: 'object' },
});

const foos = control(Foo)
  .owns(Deployment)
  .watches(Secret, { referencedBy: (foo) => foo.spec.secretName })
  .reads(ConfigMap)
  .indexes(Service, 'type', ({ spec }) => [spec?.type ?? ''])
  .reconcile(() => {});

const all = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

test('what a definition watches, reads, lists by a field and owns becomes rights; nothing more', () => {
  expect(collectRbac([foos], { leaderElection: false, events: false })).toEqual([
    { apiGroups: [''], resources: ['configmaps', 'secrets', 'services'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['apps'], resources: ['deployments'], verbs: all },
    { apiGroups: ['example.com'], resources: ['foos'], verbs: ['get', 'list', 'patch', 'update', 'watch'] },
    { apiGroups: ['example.com'], resources: ['foos/finalizers'], verbs: ['update'] },
    { apiGroups: ['example.com'], resources: ['foos/status'], verbs: ['get', 'patch', 'update'] },
  ]);
});

test('shared controllers, what is written besides, and single rights come together', () => {
  const shared = { controllers: [{ kind: ConfigMap }] };
  const rules = collectRbac([shared, { kind: ConfigMap, verbs: ['deletecollection'] }], { writes: [Deployment] });
  expect(rules).toEqual([
    {
      apiGroups: [''],
      resources: ['configmaps'],
      verbs: ['deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    },
    { apiGroups: [''], resources: ['configmaps/finalizers'], verbs: ['update'] },
    { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
    { apiGroups: ['apps'], resources: ['deployments'], verbs: all },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'], ownNamespace: true },
    {
      ...{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'get', 'patch', 'update'] },
      ownNamespace: true,
    },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'], ownNamespace: true },
  ]);
});

describe('what controllers and sets know themselves', () => {
  /** No server is needed: rights are collected before anything runs. */
  function unconnected() {
    const client = createClient({ server: 'http://127.0.0.1:9' }, { runtime: { log: silentLogger } });
    return { client, controllers: new Controllers(new SharedControllerFactory(client)) };
  }
  const only = { leaderElection: false, events: false } as const;
  const verbsOf = (rules: readonly PolicyRule[], resource: string) =>
    rules.find(({ resources }) => resources.includes(resource))?.verbs;

  test('an Apply: the kinds that it was given', async () => {
    const { client } = unconnected();
    const apply = new Apply(client, { kinds: [Job] });
    expect(collectRbac([apply], only)).toEqual([{ apiGroups: ['batch'], resources: ['jobs'], verbs: all }]);
    expect(collectRbac([apply.with({ kinds: [CronJob] })], only)).toMatchObject([{ resources: ['cronjobs'] }]);
    await client.close();
  });

  test('a generating handler: the kinds that it says it writes, and those of its Apply', async () => {
    const { client, controllers } = unconnected();
    const apply = new Apply(client, { kinds: [Job] });
    const options = { name: 'foo', writes: [Deployment, Service] };
    registerGeneratingHandler(controllers.for(Foo), apply, options, () => ({ objects: [] }));
    for (const source of [controllers, controllers.factory]) {
      const rules = collectRbac([source], only);
      for (const resource of ['deployments', 'services', 'jobs']) expect(verbsOf(rules, resource)).toEqual(all);
      expect(verbsOf(rules, 'foos')).toEqual(['get', 'list', 'patch', 'update', 'watch']);
    }
    await client.close();
  });

  test('certificates: Secrets are made, the rest is read and changed', async () => {
    const { client, controllers } = unconnected();
    registerNeedACert(controllers);
    const rules = collectRbac([controllers], only);
    const change = ['get', 'list', 'patch', 'update', 'watch'];
    expect(verbsOf(rules, 'secrets')).toEqual(['create', ...change]);
    const others = ['services', 'apiservices', 'customresourcedefinitions', 'validatingwebhookconfigurations'];
    for (const resource of others) expect(verbsOf(rules, resource)).toEqual(change);
    await client.close();
  });
});

test('the objects that give a ServiceAccount these rights, everywhere or in some namespaces', () => {
  const rules = collectRbac([foos]);
  const kinds = (options: object) =>
    rbacManifests(rules, { name: 'foo', namespace: 'ops', ...options }).map(
      ({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}`,
    );
  const own = ['Role ops', 'RoleBinding ops'];
  expect(kinds({})).toEqual(['ServiceAccount ops', 'ClusterRole ', 'ClusterRoleBinding ', ...own]);
  expect(kinds({ namespaces: ['a', 'b'] })).toEqual([
    ...['ServiceAccount ops', 'Role a', 'RoleBinding a', 'Role b', 'RoleBinding b', ...own],
  ]);
  expect(kinds({ namespaces: ['a', 'ops'] })).toEqual(['ServiceAccount ops', 'Role a', 'RoleBinding a', ...own]);
});

test('Leases, and Events if so wanted, are written in the namespace of the program alone', () => {
  const rolesOf = (rules: readonly PolicyRule[], namespaces?: readonly string[]) =>
    Object.fromEntries(
      rbacManifests(rules, { name: 'foo', namespace: 'ops', ...(namespaces && { namespaces }) })
        .filter(({ kind }) => kind.endsWith('Role'))
        .map((role) => {
          const { rules: given = [] } = role as { readonly rules?: readonly PolicyRule[] };
          const resources = given.flatMap(({ resources }) => resources);
          expect(given.every((rule) => !('ownNamespace' in rule))).toBe(true);
          return [
            `${role.kind} ${role.metadata.namespace ?? ''}`.trim(),
            resources.filter((r) => /leases|events/.test(r)),
          ];
        }),
    );
  const both = ['events', 'leases', 'events'];
  expect(rolesOf(collectRbac([foos]))).toEqual({ ClusterRole: ['events', 'events'], 'Role ops': both });
  expect(rolesOf(collectRbac([foos], { events: 'ownNamespace' }))).toEqual({ ClusterRole: [], 'Role ops': both });
  expect(rolesOf(collectRbac([foos]), ['a', 'ops'])).toEqual({ 'Role a': ['events', 'events'], 'Role ops': both });
});
