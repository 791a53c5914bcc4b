import { ApiServer } from '@riata/apiserver';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { definition as definitionOf, version } from './custom-kinds.js';
import { admissionOfPlane, uniqueName } from './pair.js';
import { type Ask, Wire } from './wire.js';

const namespace = uniqueName('metrics-');
const group = `${uniqueName('m')}.example.com`;
const templates = `/api/v1/namespaces/${namespace}/podtemplates`;
const things = `/apis/${group}/v1/namespaces/${namespace}/things`;
const spec = { containers: [{ name: 'a', image: 'a' }] };
const template = (name: string) => ({ kind: 'PodTemplate', apiVersion: 'v1', metadata: { name }, template: { spec } });
const thing = (name: string) => ({ kind: 'Thing', apiVersion: `${group}/v1`, metadata: { name } });
const merge = 'application/merge-patch+json';
const apply = 'application/apply-patch+yaml';

/** Requests of every verb and scope, allowed and refused. The real server's own clients send none of these. */
const asks: readonly Ask[] = [
  { method: 'POST', path: templates, body: template('a') },
  { method: 'POST', path: templates, body: template('a') },
  { method: 'POST', path: `${templates}?dryRun=All`, body: template('b') },
  { method: 'POST', path: `${templates}?dryRun=Nothing`, body: template('b') },
  { method: 'GET', path: `${templates}/a` },
  { method: 'GET', path: `${templates}/b` },
  { method: 'HEAD', path: `${templates}/a` },
  { method: 'GET', path: templates },
  { method: 'GET', path: `${templates}?fieldSelector=metadata.name%3Da` },
  { method: 'GET', path: '/api/v1/podtemplates?limit=1' },
  { method: 'GET', path: `${templates}?watch=1&timeoutSeconds=1` },
  { method: 'GET', path: `/api/v1/watch/namespaces/${namespace}/podtemplates?timeoutSeconds=1` },
  { method: 'GET', path: `${templates}?watch=1&resourceVersion=nope` },
  { method: 'PUT', path: `${templates}/a`, body: template('a') },
  { method: 'PATCH', path: `${templates}/a`, body: { metadata: { labels: { a: '1' } } }, type: merge },
  { method: 'PATCH', path: `${templates}/a?fieldManager=me`, body: template('a'), type: apply },
  { method: 'PATCH', path: `${templates}/a`, body: '{', type: merge },
  { method: 'PATCH', path: `${templates}/a`, body: {}, type: 'text/plain' },
  { method: 'GET', path: `${templates}/a`, accept: 'text/html' },
  { method: 'GET', path: `${templates}/a`, headers: { authorization: 'Bearer wrong' } },
  { method: 'GET', path: `${templates}/a`, headers: { 'impersonate-user': 'nobody' } },
  { method: 'DELETE', path: `${templates}/a` },
  { method: 'DELETE', path: templates },
  { method: 'GET', path: `/api/v1/namespaces/${namespace}/pods/none/log` },
  { method: 'GET', path: `/api/v1/namespaces/${namespace}/pods/none/status` },
  { method: 'GET', path: '/api/v1/nothings' },
  { method: 'GET', path: '/nothing' },
  { method: 'GET', path: '/livez/ping' },
  { method: 'GET', path: '/version' },
  { method: 'POST', path: things, body: thing('a') },
  { method: 'GET', path: `${things}/a` },
  { method: 'GET', path: things },
  { method: 'GET', path: `/apis/${group}/v1/things` },
  { method: 'GET', path: `${things}?watch=1&timeoutSeconds=1` },
  { method: 'PATCH', path: `${things}/a`, body: {}, type: merge },
  { method: 'GET', path: `${things}/a/nothing` },
  { method: 'DELETE', path: things },
];

const wires: Wire[] = [];
let server: ApiServer | undefined;
let plainToken = '';

beforeAll(async () => {
  const real = controlPlaneFromEnv();
  plainToken = real.plainToken;
  const tokens = { [plainToken]: { user: 'plain' } };
  server = await ApiServer.start({ controllers: false, tokens, admission: admissionOfPlane() });
  const { url } = await server.listen({ tls: false });
  wires.push(new Wire({ url: real.url, ca: real.ca, token: real.token }), new Wire({ url, token: server.token }));
  await Promise.all(
    wires.map(async (wire) => {
      const definition = definitionOf(group, { plural: 'things', kind: 'Thing', versions: [version('v1', {})] });
      const space = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: namespace } };
      await wire.send({ method: 'POST', path: '/api/v1/namespaces', body: space });
      await wire.send({ method: 'POST', path: definitions, body: definition });
      const isServed = async () => expect((await wire.send({ method: 'GET', path: things })).status).toBe(200);
      await vi.waitFor(isServed, { timeout: 20_000 });
    }),
  );
});

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

afterAll(async () => {
  await wires[0]?.send({ method: 'DELETE', path: `${definitions}/things.${group}` });
  await wires[0]?.send({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
  for (const wire of wires) wire.close();
  await server?.stop();
});

/** Of Pods, only requests for one of them: the server watches all of them itself, and ends such a watch now and then. */
const isOurs = (line: string) =>
  /resource="(podtemplates|things|nothings)"|resource="pods",scope="resource"|subresource="\//.test(line);

/** The lines of a metric, without what the real server's own clients cause. */
async function read(wire: Wire, metric: string): Promise<ReadonlyMap<string, number>> {
  const { body } = await wire.send({ method: 'GET', path: '/metrics', raw: true });
  const lines = String(body)
    .split('\n')
    .filter((line) => line.startsWith(`${metric}{`) && isOurs(line));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

const counted = [
  'apiserver_request_total',
  'apiserver_request_duration_seconds_count',
  'apiserver_response_sizes_count',
  'apiserver_watch_events_total',
];

test('the same requests are counted under the same names and labels', async () => {
  const grown = async (wire: Wire) => {
    const before = await Promise.all(counted.map((metric) => read(wire, metric)));
    for (const ask of asks) await wire.send(ask);
    const after = await Promise.all(counted.map((metric) => read(wire, metric)));
    return after.flatMap((lines, at) =>
      [...lines]
        .map(([line, value]) => `${line} ${value - (before[at]?.get(line) ?? 0)}`)
        .filter((line) => !line.endsWith(' 0')),
    );
  };
  const [real, embedded] = await Promise.all(wires.map(grown));
  expect(real?.length).toBeGreaterThan(20);
  expect(embedded).toEqual(real);
});

test('help, type and labels of each metric are those of the real server', async () => {
  const heads = async (wire: Wire) => {
    const { body, contentType } = await wire.send({ method: 'GET', path: '/metrics', raw: true });
    const lines = String(body).split('\n');
    const labels = lines
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/ \S+$/, ''));
    return { contentType, lines: new Set([...lines.filter((line) => line.startsWith('#')), ...labels]) };
  };
  const [real, embedded] = await Promise.all(wires.map(heads));
  expect([...(embedded?.lines ?? [])].filter((line) => !real?.lines.has(line))).toEqual([]);
  expect(embedded?.contentType).toBe(real?.contentType);
});

test('who may not read them is refused in the same words', async () => {
  const headers = { authorization: `Bearer ${plainToken}` };
  const answers = await Promise.all(wires.map((wire) => wire.send({ method: 'GET', path: '/metrics', headers })));
  expect(answers[0]?.status).toBe(403);
  expect(answers[1]).toEqual(answers[0]);
});

test('health is reported in the same words', async () => {
  const paths = ['/livez', '/readyz', '/healthz', '/livez/ping', '/readyz/nothing', '/livez/'];
  const queries = [
    '',
    '?verbose',
    '?exclude=etcd',
    '?verbose&exclude=etcd&exclude=b&exclude=a',
    '?verbose&exclude=%22',
  ];
  for (const path of paths.flatMap((one) => queries.map((query) => `${one}${query}`))) {
    const answers = await Promise.all(wires.map((wire) => wire.send({ method: 'GET', path, raw: true })));
    expect(answers[1], path).toEqual(answers[0]);
  }
});
