import type { WriteObject } from 'riata/client';
import { Deployment, PodDisruptionBudget } from 'riata/kinds';
import type { EnvVar } from 'riata/kinds/types/core-v1';
import { durationMs } from 'riata/object';
import { isPlaceholder } from '../chart/placeholder.js';
import type { DeploymentSite, ServedPort } from './deployment-site.js';

/** Where cert-manager's Secret is mounted: the manager reads it from there. */
const certificateFolder = '/tmp/k8s-webhook-server/serving-certs';

/** Enough for a small operator. */
export const defaultResources = { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '256Mi' } };

/** The Deployment, and what keeps enough of its Pods running while nodes are drained. */
export function workloadObjects(site: DeploymentSite, webhooks: readonly WriteObject[]): WriteObject[] {
  const { operator, namespace, selector, isReplicated } = site;
  const { name, version } = operator;
  const deployment = Deployment({
    metadata: { name, namespace, labels: { 'app.kubernetes.io/version': labelValue(version) } },
    spec: {
      replicas: replicasOf(site),
      // Without election a second replica would work beside the first one.
      strategy: isReplicated
        ? { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
        : { type: 'Recreate' },
      selector: { matchLabels: selector },
      template: podTemplate(site, certificateSecret(site, webhooks)),
    },
  });
  const budget = PodDisruptionBudget({
    metadata: { name, namespace },
    spec: { maxUnavailable: 1, selector: { matchLabels: selector } },
  });
  return isReplicated ? [deployment, budget] : [deployment];
}

/** How many replicas make sense for an operator. */
export function defaultReplicas({ operator, isReplicated }: DeploymentSite): number {
  return operator.options.sharding !== undefined ? 3 : isReplicated ? 2 : 1;
}

function replicasOf(site: DeploymentSite): number {
  const { operator, isReplicated } = site;
  const { replicas = defaultReplicas(site) } = site.options;
  if (!isReplicated && !isPlaceholder(replicas) && replicas > 1) {
    throw new TypeError(
      `deployment "${operator.name}": replicas must be 0 or 1 without leaderElection or sharding, got ${replicas}`,
    );
  }
  return replicas;
}

function podTemplate(site: DeploymentSite, secret: string | undefined) {
  const { operator, options, selector } = site;
  const { pod = {}, image = `${operator.image}:${imageTag(operator.version)}`, imagePullPolicy } = options;
  const { labels, annotations, topologySpreadConstraints = spread(site), volumes, ...placement } = pod;
  const allVolumes = [
    ...(volumes ?? []),
    ...(secret === undefined ? [] : [{ name: 'webhook-certificate', secret: { secretName: secret } }]),
  ];
  return {
    metadata: { labels: { ...labels, ...selector }, ...(annotations && { annotations }) },
    spec: {
      serviceAccountName: operator.name,
      automountServiceAccountToken: true,
      terminationGracePeriodSeconds: graceSeconds(site),
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' as const } },
      containers: [
        {
          name: 'operator',
          image,
          ...(imagePullPolicy !== undefined && { imagePullPolicy }),
          env: environment(options.env ?? []),
          ...(ports(site).length > 0 && { ports: ports(site) }),
          ...(site.health && probes(site.health)),
          resources: options.resources ?? defaultResources,
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          ...(secret !== undefined && {
            volumeMounts: [{ name: 'webhook-certificate', mountPath: certificateFolder, readOnly: true }],
          }),
        },
      ],
      ...placement,
      ...((isPlaceholder(topologySpreadConstraints) || topologySpreadConstraints.length > 0) && {
        topologySpreadConstraints,
      }),
      ...(allVolumes.length > 0 && { volumes: allVolumes }),
    },
  };
}

/** A new Pod on another node and in another zone than the others, where that is possible. */
function spread({ selector, isReplicated }: DeploymentSite) {
  if (!isReplicated) return [];
  return ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map((topologyKey) => ({
    ...{ maxSkew: 1, topologyKey, whenUnsatisfiable: 'ScheduleAnyway' as const },
    labelSelector: { matchLabels: selector },
    matchLabelKeys: ['pod-template-hash'],
  }));
}

function environment(given: readonly EnvVar[]): readonly EnvVar[] {
  const own: readonly EnvVar[] = [
    { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
    // A small young generation: short pauses while caches fill.
    { name: 'NODE_OPTIONS', value: '--max-semi-space-size=4' },
  ];
  return [...new Map([...own, ...given].map((each) => [each.name, each])).values()];
}

function ports({ health, metrics, webhookPort }: DeploymentSite) {
  return [
    ...(health ? [{ name: 'health', containerPort: health.port }] : []),
    ...(metrics ? [{ name: 'metrics', containerPort: metrics.port }] : []),
    ...(webhookPort !== undefined ? [{ name: 'webhooks', containerPort: webhookPort }] : []),
  ];
}

function probes({ isHttps }: ServedPort) {
  const get = (path: string) => ({ path, port: 'health', ...(isHttps && { scheme: 'HTTPS' as const }) });
  return {
    livenessProbe: { httpGet: get('/healthz'), initialDelaySeconds: 10, periodSeconds: 20, timeoutSeconds: 5 },
    readinessProbe: { httpGet: get('/readyz'), periodSeconds: 10, timeoutSeconds: 5 },
  };
}

/** Longer than the manager takes to stop; ten seconds later `run` exits the process. */
function graceSeconds({ operator }: DeploymentSite): number {
  const { gracefulTimeout = '30s' } = operator.options;
  return gracefulTimeout === 'never' ? 3600 : Math.ceil(durationMs(gracefulTimeout) / 1000) + 15;
}

/** The Secret that cert-manager keeps, if the program reads its certificate from the usual folder. */
function certificateSecret({ operator }: DeploymentSite, webhooks: readonly WriteObject[]): string | undefined {
  if (operator.options.webhooks?.certificates !== 'cert-manager') return undefined;
  const certificate = webhooks.find(({ kind }) => kind === 'Certificate');
  return (certificate as { readonly spec?: { readonly secretName?: string } } | undefined)?.spec?.secretName;
}

/** Build metadata of a version has a `+`, which tags and labels don't allow. */
function imageTag(version: string): string {
  return version.replaceAll('+', '_');
}

function labelValue(version: string): string {
  return imageTag(version)
    .slice(0, 63)
    .replace(/[^A-Za-z0-9]+$/, '');
}
