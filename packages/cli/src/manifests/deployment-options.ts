import type { EnvVar, PodSpec, ResourceRequirements } from 'riata/kinds/types/core-v1';
import type { NetworkPolicyPeer } from 'riata/kinds/types/networking-v1';
import type { Duration } from 'riata/object';
import { type OptionNames, optionNames, refuseUnknownOptions } from 'riata/runtime';
import { isPlaceholder } from '../chart/placeholder.js';

/** Parts of the operator's Pods; other fields can be changed in the objects that `deployment` gives. */
export interface PodOptions
  extends Pick<
    PodSpec,
    | 'nodeSelector'
    | 'tolerations'
    | 'affinity'
    | 'imagePullSecrets'
    | 'priorityClassName'
    | 'topologySpreadConstraints'
    | 'volumes'
  > {
  /** Beside those that select the Pods. @default none */
  readonly labels?: Readonly<Record<string, string>>;
  /** @default none */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Objects for the Prometheus operator. */
export interface MonitoringOptions {
  /** Labels by which a Prometheus selects its monitors and rules. @default none */
  readonly labels?: Readonly<Record<string, string>>;
  /** Time between scrapes. @default '30s' */
  readonly interval?: Duration;
  /** With a PrometheusRule: alerts on failing reconciles, full queues, an unreachable API server. @default true */
  readonly alerts?: boolean;
}

/** Restrictions of the NetworkPolicy. */
export interface NetworkPolicyOptions {
  /** Who may scrape metrics. @default anyone */
  readonly metricsFrom?: readonly NetworkPolicyPeer[];
}

/** Options of `deployment`. */
export interface DeploymentOptions {
  /** Where the operator runs. @default the operator's */
  readonly namespace?: string;
  /** With a Namespace whose Pods must pass PodSecurity `restricted`. @default true */
  readonly createNamespace?: boolean;
  /** With CustomResourceDefinitions. @default true */
  readonly crds?: boolean;
  /**
   * At once. More than one needs `leaderElection` or `sharding`, unless there are only webhooks.
   * @default 2 with leader election or webhooks alone, 3 with sharding, else 1
   */
  readonly replicas?: number;
  /** With tag or digest. @default the operator's image, with its version as the tag */
  readonly image?: string;
  /** @default when the node lacks it */
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  /** Of the container. @default requests of 50m CPU and 128Mi memory, a limit of 256Mi memory */
  readonly resources?: ResourceRequirements;
  /** Of the container, beside `POD_NAME` and `POD_NAMESPACE`; by name, the last one wins. @default none */
  readonly env?: readonly EnvVar[];
  readonly pod?: PodOptions;
  /** Labels of all objects, beside `app.kubernetes.io/name`. @default none */
  readonly labels?: Readonly<Record<string, string>>;
  /** Grants rights in these namespaces alone, by Roles. @default those of the manager's `cache.namespaces`, else all */
  readonly namespaces?: readonly string[];
  /** With ClusterRoles for those who view, edit and administer objects of the operator's kinds. @default true */
  readonly accessRoles?: boolean;
  /** With a ServiceMonitor and a PrometheusRule; needs the manager's `metrics`. @default false */
  readonly monitoring?: boolean | MonitoringOptions;
  /** Lets in only what the operator serves. @default true */
  readonly networkPolicy?: boolean | NetworkPolicyOptions;
}

export const deploymentOptionNames = optionNames<DeploymentOptions>({
  namespace: true,
  createNamespace: true,
  crds: true,
  replicas: true,
  image: true,
  imagePullPolicy: true,
  resources: true,
  env: true,
  pod: true,
  labels: true,
  namespaces: true,
  accessRoles: true,
  monitoring: true,
  networkPolicy: true,
});

const podOptionNames = optionNames<PodOptions>({
  nodeSelector: true,
  tolerations: true,
  affinity: true,
  imagePullSecrets: true,
  priorityClassName: true,
  topologySpreadConstraints: true,
  volumes: true,
  labels: true,
  annotations: true,
});

const monitoringOptionNames = optionNames<MonitoringOptions>({ labels: true, interval: true, alerts: true });
const networkPolicyOptionNames = optionNames<NetworkPolicyOptions>({ metricsFrom: true });

/** Throws a `TypeError` for an unknown option. Placeholders of a chart are taken for what they stand for. */
export function checkDeploymentOptions(subject: string, options: DeploymentOptions): void {
  refuseUnknownOptions(subject, options, deploymentOptionNames);
  const { pod, monitoring, networkPolicy, replicas } = options;
  const check = (name: string, value: unknown, known: OptionNames) => {
    if (typeof value === 'object' && value !== null && !isPlaceholder(value)) {
      refuseUnknownOptions(`${subject}: ${name}`, value, known);
    }
  };
  check('pod', pod, podOptionNames);
  check('monitoring', monitoring, monitoringOptionNames);
  check('networkPolicy', networkPolicy, networkPolicyOptionNames);
  if (replicas !== undefined && !isPlaceholder(replicas) && !(Number.isInteger(replicas) && replicas >= 0)) {
    throw new TypeError(`${subject}: replicas must be an integer ≥ 0, got ${replicas}`);
  }
}
