import type { JsonObject } from 'riata/object';
import { recordOf, recordsOf, textOf } from '../../../resource/metadata.js';

/** Why a Pod violates a Pod Security Standard. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

/** A Pod, or the template of Pods. */
export interface CheckedPod {
  readonly annotations: JsonObject;
  readonly spec: JsonObject;
}

/** Undefined when a Pod complies. */
export type CheckPod = (pod: CheckedPod) => Violation | undefined;

/** One rule of the Pod Security Standards, which may have changed between Kubernetes versions. */
export interface SecurityCheck {
  readonly id: string;
  readonly level: 'baseline' | 'restricted';
  /** In ascending order of the Kubernetes minor version from which they apply. */
  readonly versions: readonly {
    readonly minor: number;
    readonly check: CheckPod;
    /** The check of the baseline level that it replaces. */
    readonly overrides?: string;
  }[];
}

/** All containers of a Pod, in the order of upstream's visitor. */
export function containersOf({ spec }: CheckedPod): readonly JsonObject[] {
  const { initContainers, containers, ephemeralContainers } = spec;
  return [...recordsOf(initContainers), ...recordsOf(containers), ...recordsOf(ephemeralContainers)];
}

export function contextOf(podSpecOrContainer: JsonObject): JsonObject {
  return recordOf(podSpecOrContainer.securityContext);
}

/** `"a", "b"`. */
export function quoted(items: readonly string[]): string {
  return items.map((item) => `"${item}"`).join(', ');
}

export function plural(singular: string, several: string, count: number): string {
  return count === 1 ? singular : several;
}

/** `container "a"`, `containers "a", "b"`. */
export function containers(named: readonly string[]): string {
  return `${plural('container', 'containers', named.length)} ${quoted(named)}`;
}

/** The names of the containers that fulfil a condition. */
export function containersWhere(pod: CheckedPod, holds: (container: JsonObject) => boolean): string[] {
  return containersOf(pod)
    .filter(holds)
    .map(({ name }) => textOf(name));
}

/** `pod and container "a"`: everything that sets something forbidden. */
export function setters(isPod: boolean, named: readonly string[]): string {
  return [...(isPod ? ['pod'] : []), ...(named.length > 0 ? [containers(named)] : [])].join(' and ');
}

/** Each text once, in order. */
export function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort();
}

/** Whether a Pod has a user namespace, in which root is unprivileged outside. */
export function hasUserNamespace({ spec }: CheckedPod): boolean {
  return spec.hostUsers === false;
}

export function isWindows({ spec }: CheckedPod): boolean {
  return recordOf(spec.os).name === 'windows';
}
