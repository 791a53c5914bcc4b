import type { ReconcileContext } from 'riata';
import type { Deployment, ReplicaSet } from 'riata/kinds';
import {
  copiedAnnotations,
  keptAnnotations,
  revisionOf,
  rollbackAnnotation,
  sameTemplate,
  templateOf,
} from './deployment-revision.js';

/**
 * Goes back to an earlier template if the deprecated annotation asks for it, with the annotations that came with it;
 * revision 0 means the last one. `kubectl rollout undo` does without, and patches the template itself.
 */
export async function rollBack(
  { object: deployment, client, event }: ReconcileContext<Deployment>,
  sets: readonly ReplicaSet[],
): Promise<boolean> {
  const asked = deployment.metadata.annotations?.[rollbackAnnotation] ?? '';
  if (!/^[+-]?\d+$/.test(asked)) return false;
  const numbers = sets.map(revisionOf).sort((a, b) => b - a);
  const revision = Number(asked) || (numbers[1] ?? 0);
  const warn = (reason: string, message: string) => event({ type: 'Warning', reason, message });
  const { [rollbackAnnotation]: _, ...kept } = keptAnnotations(deployment);
  const set = sets.find((one) => revisionOf(one) === revision);
  const { name } = deployment.metadata;
  if (set === undefined || revision === 0 || sameTemplate(set, deployment)) {
    if (revision === 0) warn('DeploymentRollbackRevisionNotFound', 'Unable to find last revision.');
    else if (set === undefined)
      warn('DeploymentRollbackRevisionNotFound', 'Unable to find the revision to rollback to.');
    else {
      const message = `The rollback revision contains the same template as current deployment "${name}"`;
      warn('DeploymentRollbackTemplateUnchanged', message);
    }
    const annotations = { ...copiedAnnotations(deployment), ...kept };
    await client.update({ ...deployment, metadata: { ...deployment.metadata, annotations } });
    return true;
  }
  await client.update({
    ...deployment,
    metadata: { ...deployment.metadata, annotations: { ...copiedAnnotations(set), ...kept } },
    spec: { ...deployment.spec, template: templateOf(set) },
  });
  const message = `Rolled back deployment "${name}" to revision ${revision}`;
  event({ type: 'Normal', reason: 'DeploymentRollback', message });
  return true;
}
