import { Buffer } from 'node:buffer';
import type { Scheduler } from 'riata/runtime';
import type { Aggregation } from '../../aggregation/aggregation.js';
import type { Measured, ServerMetrics } from '../../metrics/server-metrics.js';
import { metricsType } from '../../metrics/text-metrics.js';
import type { OpenApi } from '../../openapi/open-api.js';
import type { ResourceTable } from '../../resource/resource-table.js';
import { noSuchPath, notAllowed } from '../../status/refusal.js';
import { encodeBody } from '../body/encode-body.js';
import { checkRouteAccepts, discoveryTransforms, negotiate, noTransforms, objectProduces } from '../body/negotiate.js';
import { acceptsGzip, GzipReply } from '../node/gzip-reply.js';
import { type Reply, sendBytes } from '../reply.js';
import type { RequestInfo } from '../request-info.js';
import type { ServerRequest } from '../server-request.js';
import { commonHeaders, pageNotFound } from '../status-answer.js';
import type { DiscoveryDocuments } from './discovery-documents.js';
import { healthPaths, isHealthPath, serveHealth } from './health.js';
import { type OpenIdKeys, serveOpenIdConfiguration, serveOpenIdKeys } from './openid.js';
import { serveOpenApi } from './serve-open-api.js';

/** The answer of `/version`. */
export interface VersionInfo {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
  readonly platform: string;
}

/** The Kubernetes version whose behaviour this server has. */
const servedVersion: VersionInfo = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.3+riata',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
};

/** What the answers are made from. */
export interface NonResourceParts {
  readonly openApi: () => Promise<OpenApi>;
  readonly clock: Pick<Scheduler, 'now'>;
  readonly table: ResourceTable;
  readonly discovery: DiscoveryDocuments;
  /** What other servers serve. @default nothing */
  readonly aggregation?: Aggregation | undefined;
  /** @default that is not served */
  readonly openIdKeys?: (() => OpenIdKeys) | undefined;
  /** @default there are none */
  readonly metrics?: Pick<ServerMetrics, 'text' | 'reset'> | undefined;
}

interface Asked {
  readonly request: ServerRequest;
  readonly info: RequestInfo;
  readonly reply: Reply;
  readonly measured?: Measured | undefined;
}

/** Answers non-resource requests: discovery, health, version. Throws a refusal for all others. */
export async function serveNonResource(parts: NonResourceParts, asked: Asked): Promise<void> {
  const { path } = asked.info;
  const segments = path.replace(/^\/|\/$/g, '').split('/');
  const [head = '', group = '', version = ''] = segments;
  if (path.startsWith('//')) throw pageNotFound();
  if (isHealthPath(path)) {
    if (path.lastIndexOf('/') === 0) asked.measured?.path(asked.info, '');
    return serveHealth(path, asked.info.query, asked.reply);
  }
  if (path === '/metrics' && parts.metrics !== undefined) return serveMetrics(parts.metrics, asked);
  if (path.startsWith('/.well-known/') || path.startsWith('/openid/')) return serveOpenId(parts, asked);
  if (head === 'version' && segments.length === 1) return serveVersion(asked);
  if (head === 'version') throw noSuchPath();
  if (path === '/') return serveDocument(asked, { paths: pathsOf(parts) }, true);
  if (path === '/api' || path === '/api/' || path === '/api//') return serveVersions(parts, asked);
  if (head === 'api' && segments.length === 2) return serveResources(parts, asked, '', group);
  if (head === 'apis' && segments.length === 1) return serveGroups(parts, asked);
  if (head === 'apis' && group === '') throw pageNotFound();
  if (head === 'apis' && segments.length === 2) return serveGroup(parts, asked, group);
  if (head === 'apis' && segments.length === 3) return serveResources(parts, asked, group, version);
  if (head === 'openapi') return serveOpenApi(await parts.openApi(), asked, parts.clock.now(), parts.aggregation);
  throw pageNotFound();
}

/** Any method reads, but a DELETE, which lets them count from zero. */
function serveMetrics(metrics: Pick<ServerMetrics, 'text' | 'reset'>, { request, reply }: Asked): void {
  if (request.method === 'DELETE') {
    metrics.reset();
    const headers = { ...commonHeaders, 'content-type': 'text/plain; charset=utf-8' };
    sendBytes(reply, 200, headers, Buffer.from('metrics reset\n'));
    return;
  }
  const gzips = acceptsGzip(request.headers['accept-encoding']);
  const headers = { ...commonHeaders, 'content-type': metricsType };
  sendBytes(gzips ? new GzipReply(reply) : reply, 200, headers, Buffer.from(metrics.text()));
}

/** How the tokens of service accounts can be checked. */
function serveOpenId({ openIdKeys }: NonResourceParts, asked: Asked): void {
  const { request, info, reply } = asked;
  const isKeys = /^\/openid\/v1\/jwks\/?$/.test(info.path);
  const isKnown = isKeys || /^\/\.well-known\/openid-configuration\/?$/.test(info.path);
  if (openIdKeys === undefined || !isKnown) throw pageNotFound();
  onlyGet(asked);
  checkRouteAccepts(request, [isKeys ? 'application/jwk-set+json' : 'application/json']);
  if (isKeys) serveOpenIdKeys(reply, openIdKeys());
  else serveOpenIdConfiguration(reply, openIdKeys(), request.headers.host ?? 'riata.in-process');
}

function serveVersion(asked: Asked): Promise<void> {
  onlyGet(asked);
  checkRouteAccepts(asked.request, ['application/json']);
  const { major, minor, gitVersion, platform } = servedVersion;
  const compatible = String(Number(minor) - 1);
  const document = {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: compatible,
    gitVersion,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: '',
    platform,
  };
  return serveDocument(asked, document, true);
}

/** Indented JSON, whatever is requested. */
async function serveDocument({ reply }: Asked, document: object, pretty: boolean): Promise<void> {
  const bytes = await encodeBody(document, 'application/json', pretty);
  sendBytes(reply, 200, { ...commonHeaders, 'content-type': 'application/json' }, bytes);
}

function serveVersions(parts: NonResourceParts, asked: Asked): Promise<void> {
  onlyGet(asked);
  checkRouteAccepts(asked.request, objectProduces);
  if (negotiate(asked.request, asked.info, discoveryTransforms).as) return serveAggregated(parts, asked, true);
  return serveNegotiated(asked, parts.discovery.versions(asked.request.headers.host ?? 'riata.in-process'));
}

function serveGroups(parts: NonResourceParts, asked: Asked): Promise<void> {
  if (negotiate(asked.request, asked.info, discoveryTransforms).as) return serveAggregated(parts, asked, false);
  return serveNegotiated(asked, parts.discovery.groupList());
}

function serveGroup(parts: NonResourceParts, asked: Asked, name: string): Promise<void> {
  const group = parts.discovery.group(name);
  if (group === undefined) throw pageNotFound();
  return serveNegotiated(asked, group);
}

function serveResources(parts: NonResourceParts, asked: Asked, group: string, version: string): Promise<void> {
  const known = parts.table.group(group);
  if (known === undefined) throw pageNotFound();
  const document = parts.discovery.resourceList(group, version);
  if (document === undefined) throw known.custom ? pageNotFound() : noSuchPath();
  if (!known.custom) {
    onlyGet(asked);
    checkRouteAccepts(asked.request, objectProduces);
  }
  return serveNegotiated(asked, document);
}

async function serveNegotiated({ request, info, reply }: Asked, document: object): Promise<void> {
  const { mediaType, pretty } = negotiate(request, info, noTransforms);
  const bytes = await encodeBody(document, mediaType, pretty);
  sendBytes(reply, 200, { ...commonHeaders, 'content-type': mediaType }, bytes);
}

async function serveAggregated({ discovery }: NonResourceParts, asked: Asked, core: boolean): Promise<void> {
  const { request, info, reply } = asked;
  asked.measured?.path(info, 'apiserver');
  const { mediaType, pretty } = negotiate(request, info, discoveryTransforms);
  const { document, etag } = discovery.aggregated(core);
  const headers = { 'cache-control': 'public', etag, vary: 'Accept' };
  if (request.headers['if-none-match'] === etag) {
    reply.head(304, headers);
    return reply.end();
  }
  const type = `${mediaType};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`;
  sendBytes(reply, 200, { ...headers, 'content-type': type }, await encodeBody(document, mediaType, pretty));
}

function onlyGet({ request }: Asked): void {
  if (request.method !== 'GET') throw notAllowed();
}

function pathsOf({ table, aggregation }: NonResourceParts): string[] {
  const others = aggregation
    ?.groups()
    ?.map(({ name, versions }) => ({ name, versions: versions.map((v) => v.version) }));
  const groups = [...table.groups(), ...(others ?? [])].flatMap(({ name, versions }) => {
    const base = name === '' ? '/api' : `/apis/${name}`;
    return [base, ...versions.map((version) => `${base}/${version}`)];
  });
  const openApi = ['/openapi/v2', '/openapi/v3', '/openapi/v3/'];
  const openId = ['/.well-known/openid-configuration', '/openid/v1/jwks'];
  const rest = ['/metrics', '/version'];
  return [...new Set([...groups, '/apis', '/apis/', ...healthPaths(), ...openApi, ...openId, ...rest])].sort();
}
