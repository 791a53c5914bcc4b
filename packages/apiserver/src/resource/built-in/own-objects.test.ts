import '../kind-parts.fixture.js';
import type { JsonObject, KubeObject } from 'riata/object';
import { seededRandom, VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import {
  defaultClusterRoleBindings,
  defaultClusterRoles,
  defaultRoleBindings,
  defaultRoles,
} from '../../authorization/default-access.js';
import { atOnce } from '../../steps.js';
import { MemoryStorage } from '../../storage/memory-storage.js';
import { ObjectStore } from '../object-store.js';
import { builtInResources } from './built-in-resource.js';
import { ownApiService } from './own-api-services.js';
import { ownFlowSchemas, ownPriorityLevels } from './own-flow-control.js';
import {
  type OwnObject,
  ownClientAuthority,
  ownIpAddress,
  ownNamespace,
  ownPriorityClasses,
  ownRootCertificate,
  ownService,
  ownServiceAccount,
  ownTokenTracking,
} from './own-objects.js';

const context = {
  dryRun: false,
  fieldManager: 'kube-apiserver',
  fieldValidation: 'Strict' as const,
  warn: () => {},
  now: '2026-01-02T03:04:05Z',
  nowMs: Date.parse('2026-01-02T03:04:05Z'),
};

const newStore = () =>
  new ObjectStore(new MemoryStorage({ clock: new VirtualClock() }), seededRandom('own objects'), () => {});

/** The object that a client would have to create to get the same result. */
function sent({ metadata, status: _, spec, ...rest }: JsonObject): JsonObject {
  if (spec === undefined) return { metadata, ...rest };
  const { clusterIPs: _ips, ipFamilies: _families, ...asked } = spec as JsonObject;
  return { metadata, spec: asked, ...rest };
}

/** A status beyond that of a new object is written later, by another manager. */
function withoutReport(object: KubeObject, { object: { status } }: OwnObject) {
  if (!(status as { conditions?: unknown } | undefined)?.conditions) return object;
  const { managedFields = [], ...metadata } = object.metadata;
  return {
    ...object,
    status: {},
    metadata: { ...metadata, managedFields: managedFields.filter((e) => !e.subresource) },
  };
}

const own: readonly (readonly [string, string, OwnObject])[] = [
  ['namespaces', '', ownNamespace('default')],
  ['services', 'default', ownService()],
  ['ipaddresses', '', ownIpAddress('10.0.0.1', false, 'default', 'kubernetes')],
  ['serviceaccounts', 'default', ownServiceAccount('default')],
  ['configmaps', 'default', ownRootCertificate('kube-root-ca.crt', 'PEM')],
  ['configmaps', 'kube-system', ownClientAuthority('PEM')],
  ['configmaps', 'kube-system', ownTokenTracking(context.now)],
  ...ownPriorityClasses().map((own) => ['priorityclasses', '', own] as const),
  ...ownPriorityLevels.map((own) => ['prioritylevelconfigurations', '', own] as const),
  ...ownFlowSchemas(context.now).map((own) => ['flowschemas', '', own] as const),
  ...defaultClusterRoles.map(({ own }) => ['clusterroles', '', own] as const),
  ...defaultRoles.map(({ namespace, own }) => ['roles', namespace, own] as const),
  ...defaultClusterRoleBindings.map(({ own }) => ['clusterrolebindings', '', own] as const),
  ...defaultRoleBindings.map(({ namespace, own }) => ['rolebindings', namespace, own] as const),
  ['apiservices', '', ownApiService('', 'v1', false, context.now)!],
  ['apiservices', '', ownApiService('example.com', 'v1', true, context.now)!],
];

test.each(own)('the default %s of the server equal objects that a client creates', (plural, namespace, own) => {
  const resource = builtInResources().find((r) => r.version === 'v1' && r.plural === plural)!;
  const { apiVersion, kind } = resource;
  const fields = plural === 'namespaces' ? { metadata: { name: 'default' } } : sent(own.object);
  const { object } = atOnce(resource.schema.read({ apiVersion, kind, ...fields }));
  const writer = { ...context, fieldManager: own.manager ?? context.fieldManager };
  const created = newStore().create(resource, namespace, object, writer);
  const store = newStore();
  store.place(resource, namespace, own, context);
  const placed = store.get(resource, namespace, created.metadata.name);
  expect(withoutReport(placed, own)).toStrictEqual(withoutReport(created, own));
});
