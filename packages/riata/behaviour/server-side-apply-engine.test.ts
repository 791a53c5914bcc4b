import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  applyServerSide,
  deducedType,
  type JsonObject,
  type MergeSchema,
  mergeTypeFromSchema,
  parseTime,
} from '../src/object/index.js';
import { seededRandom } from '../src/runtime/index.js';
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
import { RawServer } from './raw-server.js';
import { uniqueName, until } from './servers.js';

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

let server: RawServer;
const namespace = uniqueName('ssa-');

beforeAll(async () => {
  server = new RawServer();
  await server.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
  await define('Widget', ['v1', 'v2'], widgetSchema);
  await define('Gadget', ['v1'], { type: 'object', 'x-kubernetes-preserve-unknown-fields': true });
  await define('Gizmo', ['v1'], gizmoSchema('map'));
});
afterAll(() => server[Symbol.dispose]());

const rounds = Number(process.env.SSA_ROUNDS ?? 6);
const steps = Number(process.env.SSA_STEPS ?? 25);

describe.each(subjects)('$kind', (subject) => {
  test.each(Array.from({ length: rounds }, (_, round) => round))('round %i', async (round) => {
    const seed = `${process.env.SSA_SEED ?? 'ssa'}/${subject.kind}/${round}`;
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
  const times = (answer.body.metadata as { managedFields: { time: string }[] }).managedFields.map(({ time }) => time);
  const result = applyServerSide({ ...request, now: Math.max(...times.map(parseTime)) });
  expect(result.managedFields).toEqual((answer.body.metadata as JsonObject).managedFields);
  expect(result.object?.spec).toEqual(answer.body.spec);
});

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
  const made = await server.send('POST', crds, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${ownGroup}` },
    spec: {
      group: ownGroup,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: versions.map((name, index) => ({ name, storage: index === 0, ...common })),
    },
  });
  expect(made.code, JSON.stringify(made.body)).toBe(201);
  await until(`the schema of ${kind} is published`, () =>
    server.send('GET', `/openapi/v3/apis/${ownGroup}/${versions.at(-1)}`).then(
      ({ code, body }) => code === 200 && JSON.stringify(body).includes(kind),
      () => false,
    ),
  );
}
