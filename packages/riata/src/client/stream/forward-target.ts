import { Pod, type Service } from '../../kinds/generated/groups/core/v1.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject, LabelSelector } from '../../object/meta.js';
import type { ListOptions } from '../options.js';

/** Where a port-forward goes: a Pod by its key, or a kind that selects Pods (a Service, a Deployment, …). */
export interface ForwardTarget {
  readonly namespace?: string;
  readonly name: string;
  /** @default Pod */
  readonly kind?: KindRef<KubeObject, 'Namespaced'>;
}

/** A Pod to forward to, and which of its ports stands for a port of the target. */
export interface ResolvedTarget {
  readonly pod: { readonly namespace?: string; readonly name: string };
  readonly portFor: (port: number) => number;
}

/** The calls that resolving makes. */
export interface TargetReader {
  get(kind: KindRef<KubeObject, 'Namespaced'>, key: { namespace?: string; name: string }): Promise<KubeObject>;
  list(kind: KindRef<Pod>, options: ListOptions): Promise<{ readonly items: readonly Pod[] }>;
}

/**
 * Finds a ready Pod behind a target. Throws if no Pod is ready. Ports of a Service are translated to target ports,
 * named ones included.
 */
export async function resolveTarget(target: ForwardTarget, reader: TargetReader): Promise<ResolvedTarget> {
  const { namespace, name, kind = Pod as unknown as KindRef<KubeObject, 'Namespaced'> } = target;
  const key = { ...(namespace !== undefined && { namespace }), name };
  if (kind.kind === 'Pod') return { pod: key, portFor: (port) => port };
  const object = (await reader.get(kind, key)) as KubeObject & { readonly spec?: { readonly selector?: unknown } };
  const labelSelector = selectorOf(kind, object);
  const { items } = await reader.list(Pod, { ...(namespace !== undefined && { namespace }), labelSelector });
  const pod = items.find(isReady);
  if (pod === undefined) {
    const count = items.length === 1 ? '1 Pod matches' : `${items.length} Pods match`;
    throw new Error(`forward to ${kind.kind} ${name}: no Pod is ready; ${count} its selector`);
  }
  const portFor =
    kind.kind === 'Service' ? (port: number) => targetPort(object as unknown as Service, pod, port) : same;
  return { pod: { ...(namespace !== undefined && { namespace }), name: pod.metadata.name }, portFor };
}

const same = (port: number): number => port;

function selectorOf(kind: KindRef, object: KubeObject & { readonly spec?: { readonly selector?: unknown } }) {
  const selector = object.spec?.selector as Readonly<Record<string, string>> | LabelSelector | undefined;
  if (selector === undefined || Object.keys(selector).length === 0) {
    throw new Error(`forward to ${kind.kind} ${object.metadata.name}: it selects no Pods; forward to a Pod instead`);
  }
  return selector;
}

function isReady({ metadata, status }: Pod): boolean {
  const isGoing = metadata.deletionTimestamp !== undefined;
  return !isGoing && (status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false);
}

function targetPort(service: Service, pod: Pod, port: number): number {
  const found = service.spec?.ports?.find((one) => one.port === port);
  if (found === undefined) {
    const known = service.spec?.ports?.map((one) => one.port).join(', ') || 'none';
    throw new Error(`forward to Service ${service.metadata.name}: it has no port ${port}; its ports: ${known}`);
  }
  const { targetPort: target = port } = found;
  if (typeof target === 'number') return target;
  for (const { ports = [] } of pod.spec?.containers ?? []) {
    const named = ports.find(({ name }) => name === target);
    if (named !== undefined) return named.containerPort;
  }
  throw new Error(
    `forward to Service ${service.metadata.name}: Pod ${pod.metadata.name} has no port named "${target}"`,
  );
}
