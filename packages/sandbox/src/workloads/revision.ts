import type { Deployment, ReplicaSet } from 'riata/kinds';
import { equal } from 'riata/object';

/** Counts the templates that a Deployment has had; `kubectl rollout` goes by it. */
export const revisionAnnotation = 'deployment.kubernetes.io/revision';

export function revisionOf({ metadata }: ReplicaSet): number {
  return Number(metadata.annotations?.[revisionAnnotation] ?? 0) || 0;
}

/** Whether a ReplicaSet makes the Pods that a Deployment asks for now. */
export function sameTemplate(set: ReplicaSet, deployment: Deployment): boolean {
  const { template } = set.spec;
  const { 'pod-template-hash': _, ...labels } = template?.metadata?.labels ?? {};
  const own = { ...template, metadata: { ...template?.metadata, labels } };
  const wanted = deployment.spec.template;
  return equal(own, { ...wanted, metadata: { ...wanted.metadata, labels: wanted.metadata?.labels ?? {} } });
}
