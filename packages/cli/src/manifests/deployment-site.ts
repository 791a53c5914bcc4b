import type { CrdManifest } from 'riata/object';
import type { Operator } from '../config/resolve-operator.js';
import type { DeploymentOptions } from './deployment-options.js';

/** A port that the operator serves to others. */
export interface ServedPort {
  readonly port: number;
  readonly isHttps: boolean;
}

/** An operator and where it goes: what all parts of its deployment are made from. */
export interface DeploymentSite {
  readonly operator: Operator;
  readonly options: DeploymentOptions;
  readonly namespace: string;
  /** Of all objects. */
  readonly labels: Readonly<Record<string, string>>;
  /** Those that select its Pods. */
  readonly selector: Readonly<Record<string, string>>;
  /** Whether several replicas may run at once. */
  readonly isReplicated: boolean;
  readonly crds: readonly CrdManifest[];
  /** The name of its webhooks, as the running program finds it. */
  readonly webhookName: string;
  /** Undefined without webhooks, or where no Service leads to them. */
  readonly webhookPort: number | undefined;
  readonly health: ServedPort | undefined;
  readonly metrics: ServedPort | undefined;
}

const loopback = /^(?:localhost|127\.|::1$)/;

/** Finds out what an operator serves, by the options of its manager. */
export function deploymentSite(
  operator: Operator,
  options: DeploymentOptions,
  crds: readonly CrdManifest[],
): DeploymentSite {
  const { leaderElection, sharding, webhooks = {}, health, metrics } = operator.options;
  const selector = { 'app.kubernetes.io/name': operator.name };
  const hasService = operator.webhooks.length > 0 && webhooks.url === undefined;
  return {
    ...{ operator, options, crds },
    namespace: options.namespace ?? operator.namespace,
    labels: { ...options.labels, ...selector },
    selector: { ...selector, ...webhooks.service?.selector },
    isReplicated: leaderElection !== undefined || sharding !== undefined || isOnlyWebhooks(operator),
    webhookName: webhooks.name ?? webhooks.service?.name ?? leaderElection?.name ?? 'riata-webhooks',
    webhookPort: hasService ? (webhooks.port ?? 9443) || undefined : undefined,
    health: servedPort(health),
    metrics: servedPort(metrics),
  };
}

function isOnlyWebhooks({ definitions, webhooks }: Operator): boolean {
  return webhooks.length === definitions.length;
}

/** Nobody outside the Pod reaches loopback, and nobody knows a port that the system chose. */
function servedPort(
  endpoint: { readonly host?: string; readonly port: number; readonly tls?: unknown } | undefined,
): ServedPort | undefined {
  if (endpoint === undefined || endpoint.port === 0 || loopback.test(endpoint.host ?? '')) return undefined;
  return { port: endpoint.port, isHttps: endpoint.tls !== undefined };
}
