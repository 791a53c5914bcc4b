import { equal } from 'riata';
import type { Deployment, PodTemplateSpec, ReplicaSet } from 'riata/kinds';

/** Counts the templates that a Deployment has had; `kubectl rollout` goes by it. */
export const revisionAnnotation = 'deployment.kubernetes.io/revision';
/** The numbers that a ReplicaSet has had before its template came back. */
const historyAnnotation = 'deployment.kubernetes.io/revision-history';
/** The sizes that a ReplicaSet was scaled for. */
export const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas';
export const maxAnnotation = 'deployment.kubernetes.io/max-replicas';
/** Asks for a rollback, and is removed when that is done. */
export const rollbackAnnotation = 'deprecated.deployment.rollback.to';

export const hashLabel = 'pod-template-hash';

/** The history gets no longer than this many characters. */
const longestHistory = 2000;

const notCopied: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  ...[revisionAnnotation, historyAnnotation, desiredAnnotation, maxAnnotation, rollbackAnnotation],
]);

export function revisionOf({ metadata }: ReplicaSet): number {
  return Number(metadata.annotations?.[revisionAnnotation] ?? 0) || 0;
}

/** The template of a ReplicaSet as its Deployment has it. */
export function templateOf(set: ReplicaSet): PodTemplateSpec {
  const { template = {} } = set.spec;
  const { [hashLabel]: _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

/** Whether a ReplicaSet makes the Pods that a Deployment asks for now. */
export function sameTemplate(set: ReplicaSet, deployment: Deployment): boolean {
  const { template } = deployment.spec;
  const desired = { ...template, metadata: { ...template.metadata, labels: template.metadata?.labels ?? {} } };
  return equal(templateOf(set), desired);
}

/** Those annotations that a ReplicaSet takes over from its Deployment, and that come back with a rollback. */
export function copiedAnnotations({ metadata }: Deployment | ReplicaSet): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([name]) => !notCopied.has(name)));
}

/** The others, which stay with the object. */
export function keptAnnotations({ metadata }: Deployment): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([name]) => notCopied.has(name)));
}

/** The annotations of the ReplicaSet of the newest template: its number is above those of all `others`. */
export function revisionAnnotations(
  deployment: Deployment,
  set: ReplicaSet | undefined,
  others: readonly ReplicaSet[],
): Record<string, string> {
  const before = set === undefined ? 0 : revisionOf(set);
  const revision = Math.max(before, Math.max(0, ...others.map(revisionOf)) + 1);
  const all = { ...copiedAnnotations(deployment), [revisionAnnotation]: String(revision) };
  if (before === 0 || before === revision) return all;
  const past = [...(set?.metadata.annotations?.[historyAnnotation]?.split(',') ?? []), String(before)];
  while (past.join(',').length > longestHistory) past.shift();
  return { ...all, [historyAnnotation]: past.join(',') };
}
