import { afterAll, beforeAll } from 'vitest';
import { aggregatedServer } from './aggregated-server.js';
import { get, merge, post, put, remove } from './asks.js';
import { play, type Step, serverPair, uniqueName } from './pair.js';
import type { Answer } from './wire.js';

const pair = serverPair();
let server: Awaited<ReturnType<typeof aggregatedServer>>;
const made: string[] = [];

beforeAll(async () => {
  server = await aggregatedServer();
});

afterAll(async () => {
  for (const path of made.reverse()) await pair().both(remove(path));
  await server.close();
});

const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const services = '/api/v1/namespaces/default/services';
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';

function extension(group = `${uniqueName('x')}.example.com`) {
  const service = uniqueName('ext');
  const name = `v1.${group}`;
  made.push(`${apiServices}/${name}`, `${services}/${service}`, `${slices}/${service}`);
  const apiService = (more: object = {}) => ({
    ...{ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name } },
    spec: {
      ...{ group, version: 'v1', groupPriorityMinimum: 1500, versionPriority: 20, caBundle: server.caBundle },
      service: { namespace: 'default', name: service, port: server.port },
      ...more,
    },
  });
  const serviceOf = (spec: object) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name: service }, spec });
  const outside = () =>
    post(services, serviceOf({ type: 'ExternalName', externalName: '127.0.0.1' }), { silent: true });
  const path = `${apiServices}/${name}`;
  const at = `/apis/${group}/v1`;
  /** Waits until its condition has a reason, and compares the whole. */
  const until = (reason: string, more: object = {}): Step =>
    get(path, { until: ({ body }: Answer) => body?.status?.conditions?.[0]?.reason === reason, ...more });
  const proxied = () => get(at, { until: ({ status }) => status === 200, silent: true });
  return { group, service, name, apiService, serviceOf, outside, path, at, until, proxied };
}

play(pair, 'an aggregated API server', () => {
  const { group, apiService, outside, path, at, until, proxied } = extension();
  const things = `${at}/namespaces/default/things`;
  const impersonated = {
    ...{ 'impersonate-user': 'jane', 'impersonate-group': 'system:masters', 'impersonate-uid': 'u1' },
    ...{ 'impersonate-extra-scopes%2fx': 'some', 'x-remote-user': 'root', 'x-remote-extra-a': 'b', 'x-own': 'kept' },
  };
  return [
    outside(),
    post(apiServices, apiService()),
    until('Passed'),
    proxied(),
    get(`/apis/${group}`),
    get(at),
    get(`${things}/a?x=1&y=2`, { headers: impersonated }),
    get(`${at}/things`, { headers: impersonated }),
    post(things, { kind: 'Thing', spec: { a: 1 } }, { headers: impersonated }),
    put(`${things}/a/status`, { kind: 'Thing' }, { headers: impersonated }),
    remove(`${things}/a`, undefined, { headers: impersonated }),
    merge(`${things}/a`, { a: 1 }, { headers: impersonated }),
    get(`${things}/teapot`),
    get(`${things}/redirect`),
    get(`${things}?watch=true`, { ends: '"name":"last"' }),
    get(`${things}/a`, { headers: { 'impersonate-user': 'nobody' } }),
    get(`/apis/${group}/v2/things`),
    get('/apis', {
      accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
      until: ({ body }) =>
        body.items.some(
          (one: { metadata: { name: string }; versions: { freshness: string }[] }) =>
            one.metadata.name === group && one.versions[0]?.freshness === 'Current',
        ),
    }),
    get('/apis', { until: ({ body }) => body.groups.some((one: { name: string }) => one.name === group) }),
    merge(path, { spec: { groupPriorityMinimum: 17_900 } }, { silent: true }),
    get('/apis', { until: ({ body }) => body.groups[1].name === group }),
    remove(path),
    get(at, { until: ({ status }) => status === 404 }),
    get(`${things}/a`, { until: ({ status }) => status === 404 }),
  ];
});

play(pair, 'OpenAPI 2 of an aggregated API server', () => {
  const { group, apiService, outside, path, until, proxied } = extension(`open-api.${uniqueName('x')}.example.com`);
  const has = (path: string) => (answer: Answer) => answer.body?.paths?.[path] !== undefined;
  return [
    outside(),
    post(apiServices, apiService(), { silent: true }),
    until('Passed', { silent: true }),
    proxied(),
    // The real server asks again once a minute.
    get('/openapi/v2', { until: has(`/apis/${group}/v1/things`) }),
    remove(path, undefined, { silent: true }),
    get('/openapi/v2', { until: (answer) => !has(`/apis/${group}/v1/things`)(answer), silent: true }),
  ];
});

play(pair, 'several versions of an aggregated group', () => {
  const one = extension();
  const { group, service } = one;
  const second = (version: string, versionPriority: number) => {
    made.push(`${apiServices}/${version}.${group}`);
    const made1 = one.apiService({ version, versionPriority, groupPriorityMinimum: 1000 });
    return { ...made1, metadata: { name: `${version}.${group}` } };
  };
  void service;
  return [
    one.outside(),
    post(apiServices, one.apiService(), { silent: true }),
    post(apiServices, second('v2beta1', 30), { silent: true }),
    post(apiServices, second('v2', 20), { silent: true }),
    one.until('Passed', { silent: true }),
    get(`/apis/${group}`, { until: ({ body }) => body.versions?.length === 3 }),
  ];
});

play(pair, 'APIServices that are not available', () => {
  const absent = extension();
  const port = extension();
  const slice = (of: ReturnType<typeof extension>, more: object) => ({
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
    metadata: { name: of.service, labels: { 'kubernetes.io/service-name': of.service } },
    ...{ endpoints: [], ports: [] },
    ...more,
  });
  const clusterIp = (of: ReturnType<typeof extension>) =>
    post(services, of.serviceOf({ ports: [{ name: 'web', port: server.port }] }), { silent: true });
  const none = extension();
  const unready = extension();
  const refused = extension();
  const untrusted = extension();
  const broken = extension(`broken${uniqueName('x')}.example.com`);
  const gone = (of: ReturnType<typeof extension>) => get(of.at, { until: ({ status }) => status === 503 });
  return [
    post(apiServices, absent.apiService()),
    absent.until('ServiceNotFound'),
    gone(absent),
    get(`${absent.at}/things`),
    get(`/apis/${absent.group}`),
    post(services, port.serviceOf({ ports: [{ port: 1 }] }), { silent: true }),
    post(apiServices, port.apiService(), { silent: true }),
    port.until('ServicePortError'),
    clusterIp(none),
    post(apiServices, none.apiService(), { silent: true }),
    none.until('EndpointsNotFound'),
    clusterIp(unready),
    post(
      slices,
      slice(unready, {
        endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: false } }],
        ports: [{ name: 'web', port: server.port }],
      }),
      { silent: true },
    ),
    post(apiServices, unready.apiService(), { silent: true }),
    unready.until('MissingEndpoints'),
    refused.outside(),
    post(apiServices, refused.apiService({ service: { namespace: 'default', name: refused.service, port: 1 } }), {
      silent: true,
    }),
    refused.until('FailedDiscoveryCheck'),
    gone(refused),
    untrusted.outside(),
    post(apiServices, untrusted.apiService({ caBundle: undefined }), { silent: true }),
    untrusted.until('FailedDiscoveryCheck'),
    merge(untrusted.path, { spec: { insecureSkipTLSVerify: true } }, { silent: true }),
    untrusted.until('Passed'),
    broken.outside(),
    post(apiServices, broken.apiService(), { silent: true }),
    broken.until('FailedDiscoveryCheck'),
    gone(broken),
    merge(broken.path, { spec: { service: null, caBundle: null } }, { silent: true }),
    broken.until('Local'),
  ];
});
