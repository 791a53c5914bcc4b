import { isControlledBy, type KubeObject } from 'riata';
import type { Pod } from 'riata/kinds';
import type { Clock } from 'riata/runtime';

/** Whether a Pod has succeeded or failed. */
export function hasEnded(pod: Pod): boolean {
  return pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed';
}

/** Whether a Pod counts: it has neither ended nor been deleted. */
export function isActive(pod: Pod): boolean {
  return !hasEnded(pod) && pod.metadata.deletionTimestamp === undefined;
}

/** When a Pod became ready, in milliseconds; undefined while it is not. */
export function readySince(pod: Pod): number | undefined {
  const ready = pod.status.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? Date.parse(ready.lastTransitionTime ?? '') || 0 : undefined;
}

export function isReady(pod: Pod): boolean {
  return readySince(pod) !== undefined;
}

/** How long it takes until a Pod has been ready for this many seconds: 0 if it has, undefined while it is not ready. */
export function untilAvailable(pod: Pod, minReadySeconds: number, clock: Clock): number | undefined {
  const since = readySince(pod);
  return since === undefined ? undefined : Math.max(0, since + minReadySeconds * 1000 - clock.now());
}

/** Those of some objects that an owner controls. */
export function controlledBy<T extends KubeObject>(objects: readonly T[], owner: KubeObject): T[] {
  return objects.filter((object) => isControlledBy(object, owner));
}

/** Whether an object has a controller, of any kind. */
export function hasController({ metadata }: KubeObject): boolean {
  return metadata.ownerReferences?.some(({ controller }) => controller) ?? false;
}

/** A reference that makes `owner` the controller of what carries it. */
export function controllerReference(owner: KubeObject) {
  const { apiVersion, kind, metadata } = owner;
  const { name, uid } = metadata;
  return {
    apiVersion: apiVersion as string,
    kind: kind as string,
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** Pods in the order of deletion: those that do the least first. */
export function leastUsefulFirst(pods: readonly Pod[]): Pod[] {
  const rank = (pod: Pod): readonly number[] => [
    pod.spec.nodeName ? 1 : 0,
    { Pending: 0, Unknown: 1, Running: 2 }[pod.status.phase ?? 'Pending'] ?? 0,
    isReady(pod) ? 1 : 0,
    -(readySince(pod) ?? 0),
    -Date.parse(pod.metadata.creationTimestamp),
  ];
  return [...pods].sort((a, b) => {
    const [x, y] = [rank(a), rank(b)];
    const at = x.findIndex((value, index) => value !== y[index]);
    return at < 0 ? 0 : (x[at] as number) - (y[at] as number);
  });
}
