import type { WriteObject } from 'riata/client';
import type { Deployment } from 'riata/kinds';
import type { Container, EnvVar, PodSpec } from 'riata/kinds/types/core-v1';
import type { OperatorConfig } from '../config/operator.js';
import type { Operator } from '../config/resolve-operator.js';
import { deployment } from '../manifests/deployment.js';
import { deploymentSite } from '../manifests/deployment-site.js';
import { operatorObjects } from '../manifests/operator-objects.js';
import { type ChartConfig, chartOf } from './chart.js';
import { onlyIf } from './placeholder.js';

interface DefaultValues
  extends Pick<PodSpec, 'imagePullSecrets' | 'nodeSelector' | 'tolerations' | 'affinity'>,
    Pick<Container, 'resources'> {
  readonly replicas: number;
  readonly image: {
    readonly repository: string;
    readonly tag: string;
    readonly pullPolicy: Container['imagePullPolicy'];
  };
  readonly podAnnotations: Readonly<Record<string, string>>;
  readonly env: readonly EnvVar[];
  readonly networkPolicy: boolean;
  readonly monitoring: boolean;
}

/**
 * The chart of an operator whose config has none: its own objects, and values that nearly every chart has, for the
 * operator's Deployment.
 */
export async function defaultChart(config: OperatorConfig, operator: Operator): Promise<ChartConfig> {
  const own = (await operatorObjects(operator)).find((object) => isWorkload(object, operator));
  const site = deploymentSite(operator, {}, []);
  const hasMonitoring = operator.objects === undefined && site.metrics !== undefined;
  return chartOf(config, {
    schema: schemaFor(operator, own, { isReplicated: site.isReplicated, hasMonitoring }),
    objects: async (v: DefaultValues, { release }) => {
      const placed = operatorIn(operator, release.namespace);
      const objects = operator.objects
        ? await operator.objects(placed)
        : await deployment(placed, { ...(hasMonitoring && { monitoring: v.monitoring }) });
      const changed = objects.map((object) => (isWorkload(object, operator) ? withValues(object as never, v) : object));
      return changed.flatMap((object) =>
        object.kind === 'NetworkPolicy' ? onlyIf(v.networkPolicy, [object]) : [object],
      );
    },
  });
}

function isWorkload({ kind, metadata }: WriteObject, { name }: Operator): boolean {
  return kind === 'Deployment' && metadata.name === name;
}

/** The same operator in the namespace of a release, where its Leases are, too. */
function operatorIn(operator: Operator, namespace: string): Operator {
  const { leaderElection, sharding } = operator.options;
  const moved = <T extends { readonly namespace: string }>(lease: T): T =>
    lease.namespace === operator.namespace ? { ...lease, namespace } : lease;
  const options = {
    ...operator.options,
    ...(leaderElection && { leaderElection: moved(leaderElection) }),
    ...(sharding && { sharding: moved(sharding) }),
  };
  return { ...operator, namespace, options };
}

type WrittenDeployment = ReturnType<typeof Deployment>;

function withValues(object: WrittenDeployment, v: DefaultValues): WriteObject {
  const template = object.spec?.template;
  const [container, ...others] = template?.spec?.containers ?? [];
  const { imagePullSecrets, nodeSelector, tolerations, affinity } = v;
  const changed = {
    ...container,
    image: `${v.image.repository}:${v.image.tag}`,
    imagePullPolicy: v.image.pullPolicy,
    env: [...(container?.env ?? []), ...v.env],
    resources: v.resources,
  };
  const spec = {
    ...template?.spec,
    containers: [changed, ...others],
    imagePullSecrets,
    nodeSelector,
    tolerations,
    affinity,
  };
  const metadata = { ...template?.metadata, annotations: v.podAnnotations };
  return { ...object, spec: { ...object.spec, replicas: v.replicas, template: { metadata, spec } } } as WriteObject;
}

function schemaFor(
  operator: Operator,
  own: WriteObject | undefined,
  { isReplicated, hasMonitoring }: { readonly isReplicated: boolean; readonly hasMonitoring: boolean },
) {
  const { replicas = 1, template } = (own as WrittenDeployment | undefined)?.spec ?? {};
  const pod = template?.spec;
  const container = pod?.containers[0];
  const [repository, tag] = splitImage(container?.image ?? '', operator);
  const map = (value: unknown, description: string) => ({
    ...{ type: 'object', additionalProperties: {}, default: value ?? {}, description },
  });
  const list = (value: unknown, description: string) => ({
    type: 'array',
    items: {},
    default: value ?? [],
    description,
  });
  const flag = (value: boolean, description: string) => ({ type: 'boolean', default: value, description });
  const text = (value: string) => ({ type: 'string', default: value });
  const properties = {
    replicas: {
      ...{ type: 'integer', minimum: 0, default: replicas },
      ...(!isReplicated && { maximum: 1 }),
      description: isReplicated
        ? 'Pods at once; one leads, or they share the work.'
        : 'Pods at once: at most one, since the operator has no leader election.',
    },
    image: {
      type: 'object',
      properties: {
        repository: text(repository),
        tag: text(tag),
        pullPolicy: {
          ...text(container?.imagePullPolicy ?? 'IfNotPresent'),
          enum: ['Always', 'IfNotPresent', 'Never'],
        },
      },
    },
    imagePullSecrets: list(pod?.imagePullSecrets, 'Secrets for the registry, e.g. [{ name: registry }].'),
    resources: map(container?.resources, 'Of the container.'),
    nodeSelector: map(pod?.nodeSelector, 'Labels of the nodes that Pods may run on.'),
    tolerations: list(pod?.tolerations, 'Taints of nodes that Pods may run on nevertheless.'),
    affinity: map(pod?.affinity, 'More rules for the nodes of Pods.'),
    podAnnotations: map(template?.metadata?.annotations, 'Annotations of Pods.'),
    env: list([], 'More environment of the container, e.g. [{ name: LOG_LEVEL, value: debug }].'),
    networkPolicy: flag(true, 'Lets in only what the operator serves.'),
    ...(hasMonitoring && {
      monitoring: flag(false, 'ServiceMonitor and PrometheusRule; needs the Prometheus operator.'),
    }),
  };
  return JSON.parse(JSON.stringify({ type: 'object', properties, required: ['image'] }));
}

/** A digest stays with the repository's name: it is no tag. */
function splitImage(image: string, operator: Operator): [repository: string, tag: string] {
  const colon = image.lastIndexOf(':');
  const isTagged = colon > image.lastIndexOf('/') && !image.includes('@');
  return isTagged ? [image.slice(0, colon), image.slice(colon + 1)] : [operator.image, operator.version];
}
