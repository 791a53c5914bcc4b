import {
  applyServerSide,
  deducedType,
  formatTime,
  type JsonObject,
  keepTimes,
  type ManagedFieldsEntry,
  type MergeSchema,
  mergeTypeFromSchema,
  parseTime,
  trackUpdate,
} from 'riata/object';
import { seededRandom, systemClock } from 'riata/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Play, type Subject } from './apply-play.js';
import {
  configMapPart,
  deploymentPart,
  duplicatesPart,
  servicePart,
  widgetPart,
  widgetSchema,
  widgetStatusPart,
} from './random-configs.js';
import { RawConnections } from './raw-connections.js';
import { RawServer } from './raw-server.js';
import { environmentOn, uniqueName, until } from './servers.js';

/**
 * The engine against the truth: the same random writes go to the real server and, from the object that it had before,
 * to the engine. After each one both must agree on the answer, on who manages what since when, and on what is there.
 */

const group = `${uniqueName('g')}.riata.dev`;
const subjects: readonly Subject[] = [
  {
    apiVersions: ['v1'],
    kind: 'ConfigMap',
    resource: 'configmaps',
    part: configMapPart,
    builtIn: true,
  },
  {
    apiVersions: ['apps/v1'],
    kind: 'Deployment',
    resource: 'deployments',
    part: deploymentPart,
    updatePart: (random) => (random.next() < 0.3 ? duplicatesPart(random) : deploymentPart(random)),
    statusPart: (random) => ({ status: { replicas: random.int(0, 3), updatedReplicas: 0 } }),
    scalable: true,
    builtIn: true,
  },
  {
    apiVersions: ['v1'],
    kind: 'Service',
    resource: 'services',
    part: servicePart,
    allocated: ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'],
    builtIn: true,
  },
  {
    apiVersions: [`widgets.${group}/v1`, `widgets.${group}/v2`],
    kind: 'Widget',
    resource: 'widgets',
    part: widgetPart,
    statusPart: widgetStatusPart,
    builtIn: false,
  },
  {
    apiVersions: [`gadgets.${group}/v1`],
    kind: 'Gadget',
    resource: 'gadgets',
    // Nothing is known of its shape: objects merge, lists do not.
    part: widgetPart,
    statusPart: widgetStatusPart,
    builtIn: false,
  },
];

const env = environmentOn('kube-apiserver');
let connections: RawConnections;
let server: RawServer;
let namespace: string;

beforeAll(async () => {
  connections = await RawConnections.to(env(), 4);
  server = new RawServer(connections);
  namespace = await env().namespace('ssa');
  await define('Widget', ['v1', 'v2'], widgetSchema);
  await define('Gadget', ['v1'], { type: 'object', 'x-kubernetes-preserve-unknown-fields': true });
  await define('Gizmo', ['v1'], gizmoSchema('map'));
  env().keep();
});
afterAll(() => connections[Symbol.dispose]());

const rounds = Number(process.env.RIATA_RUNS ?? 6);
const steps = Number(process.env.SSA_STEPS ?? 25);

describe.each(subjects)('$kind', (subject) => {
  test.each(Array.from({ length: rounds }, (_, round) => round))('round %i', async (round) => {
    const seed = `${process.env.RIATA_SEED ?? 'ssa'}/${subject.kind}/${round}`;
    const place = { namespace, name: `x-${round}` };
    await new Play(server, subject, place, seededRandom(seed)).run(steps, seed);
  });
});

test('what was owned in parts is owned as one once the schema says so', async () => {
  const apiVersion = `gizmos.${group}/v1`;
  const path = `/apis/${apiVersion}/namespaces/${namespace}/gizmos/x`;
  const applied = (manager: string, spec: JsonObject, query = '') =>
    server.send(
      'PATCH',
      `${path}?fieldManager=${manager}${query}`,
      { apiVersion, kind: 'Gizmo', metadata: { name: 'x' }, spec },
      'application/apply-patch+yaml',
    );
  await applied('ann', { items: [{ name: 'a', value: '1' }], map: { a: '1' } });
  const { body: live } = await applied('bob', { items: [{ name: 'b', value: '1' }], map: { b: '1' } });
  await server.send(
    'PATCH',
    `${crds}/gizmos.gizmos.${group}`,
    [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: gizmoSchema('atomic') }],
    'application/json-patch+json',
  );
  const spec = { items: [{ name: 'c', value: '1' }] };
  // The handlers take the new schema some time after it is stored.
  const answer = await until('the new schema is in force', async () => {
    const tried = await applied('cid', spec, '&force=true&dryRun=All');
    return JSON.stringify(tried.body).includes('"f:items":{}') && tried;
  });
  const type = mergeTypeFromSchema(gizmoSchema('atomic') as MergeSchema);
  const anything = { type: { map: { ...type.map!, values: () => deducedType } } };
  const config = { apiVersion, kind: 'Gizmo', metadata: { name: 'x' }, spec };
  const request = { apiVersion, kind: 'Gizmo', ...anything, live, config, manager: 'cid', force: true };
  const result = applyServerSide({ ...request, now: Math.max(...timesOf(answer.body)) });
  expect(result.managedFields).toEqual((answer.body.metadata as JsonObject).managedFields);
  expect(result.object?.spec).toEqual(answer.body.spec);
});

test('the oldest of many updates are merged', async () => {
  const { apiVersion, kind, type, empty } = await server.kind('v1', 'ConfigMap');
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  let { body: live } = await server.send('POST', `${path}?fieldManager=m`, {
    metadata: { name: 'many' },
    data: { a: 'b' },
  });
  for (let i = 0; i < 24; i++) {
    const manager = `m${(i * 7) % 15}`;
    const patch = { data: { [`key-${i}`]: 'x' } };
    const { body } = await server.send(
      'PATCH',
      `${path}/many?fieldManager=${manager}`,
      patch,
      'application/merge-patch+json',
    );
    const object = { ...body, metadata: { ...(body.metadata as JsonObject), managedFields: undefined } };
    const now = Math.max(...timesOf(body));
    expect(trackUpdate({ apiVersion, kind, type, empty, live, object, manager, now })).toEqual(
      (body.metadata as JsonObject).managedFields,
    );
    live = body;
  }
  expect(JSON.stringify(live)).toContain('ancient-changes');
});

test('an apply that comes to the same does not change times', async () => {
  const { apiVersion, kind, type, empty } = await server.kind('apps/v1', 'Deployment');
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/same`;
  const labels = { app: 'same' };
  const container = { name: 'web', image: 'web:1', resources: { limits: { cpu: '1000m' } } };
  const template = { metadata: { labels }, spec: { containers: [container] } };
  const spec = { selector: { matchLabels: labels }, template };
  const config = { apiVersion, kind, metadata: { name: 'same' }, spec };
  const apply = () => server.send('PATCH', `${path}?fieldManager=ann`, config, 'application/apply-patch+yaml');
  const { body: live } = await apply();
  const [first] = timesOf(live) as [number];
  await systemClock.sleep(1_100);
  const { body: again } = await apply();
  expect(again).toEqual(live);
  const now = first + 60_000;
  const { managedFields } = applyServerSide({ apiVersion, kind, type, empty, live, config, manager: 'ann', now });
  // The engine alone cannot know that 1000m equals the stored value.
  expect(managedFields?.[0]?.time).toBe(formatTime(now));
  const next = { ...again, metadata: { ...(again.metadata as JsonObject), managedFields } } as JsonObject;
  expect(keepTimes(live, next)).toEqual(live);
});

function timesOf(object: JsonObject): number[] {
  const { managedFields = [] } = object.metadata as { managedFields?: ManagedFieldsEntry[] };
  return managedFields.map(({ time = '1970-01-01T00:00:00Z' }) => parseTime(time));
}

function gizmoSchema(type: 'map' | 'atomic'): JsonObject {
  const string = { type: 'string' };
  const item = { type: 'object', required: ['name'], properties: { name: string, value: string } };
  const keys = type === 'map' ? { 'x-kubernetes-list-map-keys': ['name'] } : {};
  const items = { type: 'array', 'x-kubernetes-list-type': type, ...keys, items: item };
  const mapType = { 'x-kubernetes-map-type': type === 'map' ? 'granular' : 'atomic' };
  const map = { type: 'object', additionalProperties: string, ...mapType };
  return { type: 'object', properties: { spec: { type: 'object', properties: { items, map } } } };
}

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Makes a kind in a group of its own, and waits until it is served. */
async function define(kind: string, versions: readonly string[], openAPIV3Schema: JsonObject): Promise<void> {
  const plural = `${kind.toLowerCase()}s`;
  const ownGroup = `${plural}.${group}`;
  const common = { served: true, subresources: { status: {} }, schema: { openAPIV3Schema } };
  const names = { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` };
  const served = versions.map((name, index) => ({ name, storage: index === 0, ...common }));
  const spec = { group: ownGroup, scope: 'Namespaced', names, versions: served };
  const metadata = { name: `${plural}.${ownGroup}` };
  await env().install({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata, spec });
  await until(`the schema of ${kind} is published`, () =>
    server.send('GET', `/openapi/v3/apis/${ownGroup}/${versions.at(-1)}`).then(
      ({ code, body }) => code === 200 && JSON.stringify(body).includes(kind),
      () => false,
    ),
  );
}
