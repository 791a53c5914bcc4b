import { goQuote } from '../../status/go-quote.js';
import type { Query } from '../options/query-string.js';
import type { Reply } from '../reply.js';
import { pageNotFound, sendText } from '../status-answer.js';

/** The post-start hooks of kube-apiserver, in the order in which it reports them. */
const hooks = [
  'poststarthook/start-apiserver-admission-initializer',
  'poststarthook/generic-apiserver-start-informers',
  'poststarthook/priority-and-fairness-config-consumer',
  'poststarthook/priority-and-fairness-filter',
  'poststarthook/storage-object-count-tracker-hook',
  'poststarthook/start-apiextensions-informers',
  'poststarthook/start-apiextensions-controllers',
  'poststarthook/crd-informer-synced',
  'poststarthook/start-system-namespaces-controller',
  'poststarthook/peer-endpoint-reconciler-controller',
  'poststarthook/start-cluster-authentication-info-controller',
  'poststarthook/start-kube-apiserver-identity-lease-controller',
  'poststarthook/start-kube-apiserver-identity-lease-garbage-collector',
  'poststarthook/storage-readiness',
  'poststarthook/start-legacy-token-tracking-controller',
  'poststarthook/start-service-ip-repair-controllers',
  'poststarthook/rbac/bootstrap-roles',
  'poststarthook/scheduling/bootstrap-system-priority-classes',
  'poststarthook/priority-and-fairness-config-producer',
  'poststarthook/bootstrap-controller',
  'poststarthook/start-kubernetes-service-cidr-controller',
  'poststarthook/start-kube-aggregator-informers',
  'poststarthook/apiservice-status-local-available-controller',
  'poststarthook/apiservice-status-remote-available-controller',
  'poststarthook/apiservice-registration-controller',
  'poststarthook/apiservice-discovery-controller',
  'poststarthook/kube-apiserver-autoregistration',
  'autoregister-completion',
  'poststarthook/apiservice-openapi-controller',
  'poststarthook/apiservice-openapiv3-controller',
];

/** The checks behind each path. A server that answers has passed them all. */
const checks: Readonly<Record<string, readonly string[]>> = {
  healthz: ['ping', 'log', 'loopback-serving-certificate', 'etcd', ...hooks],
  livez: ['ping', 'log', 'loopback-serving-certificate', 'etcd', ...hooks],
  readyz: ['ping', 'log', 'etcd', 'etcd-readiness', 'informer-sync', ...hooks, 'shutdown'],
};

/** Whether a path is a health endpoint. */
export function isHealthPath(path: string): boolean {
  return Object.hasOwn(checks, path.split('/')[1] ?? '');
}

/** The paths of all health endpoints. */
export function healthPaths(): readonly string[] {
  return Object.entries(checks).flatMap(([head, names]) => [`/${head}`, ...names.map((name) => `/${head}/${name}`)]);
}

/** Answers `ok`, or, with `?verbose`, a line for each check. Throws 404 for a check that there is not. */
export function serveHealth(path: string, query: Query, reply: Reply): void {
  const [, head = '', ...rest] = path.split('/');
  const names = checks[head] ?? [];
  if (rest.length > 0 && !names.includes(rest.join('/'))) throw pageNotFound();
  sendText(reply, 200, rest.length > 0 || !query.has('verbose') ? 'ok' : report(head, names, query));
}

function report(head: string, names: readonly string[], query: Query): string {
  const excluded = new Set(query.get('exclude') ?? []);
  const lines = names.map((name) => `[+]${name}${excluded.has(name) ? ' excluded:' : ''} ok\n`);
  const unknown = [...excluded].filter((name) => !names.includes(name)).sort();
  const warning = `warn: some health checks cannot be excluded: no matches for ${unknown.map((name) => goQuote(name)).join(',')}\n`;
  return `${lines.join('')}${unknown.length === 0 ? '' : warning}${head} check passed\n`;
}
