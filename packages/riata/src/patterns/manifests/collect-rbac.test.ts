import { expect, test } from 'vitest';
import { control } from '../../controller/index.js';
import { ConfigMap, Deployment, Secret } from '../../kinds/index.js';
import { defineKind } from '../../object/index.js';
import { collectRbac, rbacManifests } from './collect-rbac.js';

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
  .reconcile(() => {});

const all = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

test('what a definition watches, reads and owns becomes rights; nothing more', () => {
  expect(collectRbac([foos], { leaderElection: false, events: false })).toEqual([
    { apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['get', 'list', 'watch'] },
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
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'get', 'patch', 'update'] },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
  ]);
});

test('the objects that give a ServiceAccount these rights, everywhere or in some namespaces', () => {
  const rules = collectRbac([foos]);
  const kinds = (options: object) =>
    rbacManifests(rules, { name: 'foo', namespace: 'ops', ...options }).map(
      ({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}`,
    );
  expect(kinds({})).toEqual(['ServiceAccount ops', 'ClusterRole ', 'ClusterRoleBinding ']);
  expect(kinds({ namespaces: ['a', 'b'] })).toEqual([
    ...['ServiceAccount ops', 'Role a', 'RoleBinding a', 'Role b', 'RoleBinding b'],
  ]);
});
