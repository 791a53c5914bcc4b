import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
    apiVersions: [`${group}/v1`, `${group}/v2`],
    kind: 'Widget',
    resource: 'widgets',
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
  const names = { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' };
  const version = { served: true, subresources: { status: {} }, schema: { openAPIV3Schema: widgetSchema } };
  const versions = ['v1', 'v2'].map((name) => ({ name, storage: name === 'v1', ...version }));
  const made = await server.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: { group, scope: 'Namespaced', names, versions },
  });
  expect(made.code, JSON.stringify(made.body)).toBe(201);
  await until('the schema of the custom kind is published', () =>
    server.send('GET', `/openapi/v3/apis/${group}/v2`).then(
      ({ code, body }) => code === 200 && JSON.stringify(body).includes('Widget'),
      () => false,
    ),
  );
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
