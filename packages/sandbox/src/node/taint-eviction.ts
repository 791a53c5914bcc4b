import { control, ignoreNotFound, isDeleting, type ReconcileContext } from 'riata';
import { changed } from 'riata/controller';
import { Node, Pod, type Toleration } from 'riata/kinds';
import { keyId } from 'riata/object';
import { lookAgain } from '../workloads/look-again.js';
import { tolerates } from './scheduler.js';

const taintsChanged = changed(({ spec }: Node) => [spec.taints]);

/**
 * Deletes Pods from nodes with a `NoExecute` taint that they don't tolerate, at once or when their `tolerationSeconds` are
 * over, as the taint-eviction-controller of kube-controller-manager does. The time counts from when the Pod and its taints
 * were first seen together.
 */
export const taintEviction = () => {
  /** Pods whose deletion is scheduled, and since when, by key. */
  const scheduled = new Map<string, { readonly uid: string; readonly since: number }>();
  return control(Pod, { name: 'taint-eviction-controller' })
    .reads(Node)
    .watches(
      Node,
      async ({ metadata: { name } }, reader) => {
        const { items } = await reader.list(Pod);
        return items.filter(({ spec }) => spec.nodeName === name).map(({ metadata }) => metadata);
      },
      { predicates: [taintsChanged] },
    )
    .evenWhenGone()
    .reconcile(async (context) => {
      const { object: pod, key, client, clock, event } = context;
      const id = keyId(key);
      if (pod === undefined || isDeleting(pod)) {
        scheduled.delete(id);
        return undefined;
      }
      const { nodeName = '', tolerations = [] } = pod.spec;
      const node = nodeName === '' ? undefined : await client.find(Node, { name: nodeName });
      const seconds = toleratedSeconds(node, tolerations);
      const { uid } = pod.metadata;
      const before = scheduled.get(id);
      const since = before?.uid === uid ? before.since : clock.now();
      if (seconds === Number.POSITIVE_INFINITY) {
        if (before?.uid === uid) {
          event({ type: 'Normal', reason: 'TaintManagerEviction', message: `Cancelling deletion of Pod ${id}` });
        }
        scheduled.delete(id);
        return undefined;
      }
      const left = since + seconds * 1000 - clock.now();
      if (left > 0) {
        scheduled.set(id, { uid, since });
        return lookAgain(left);
      }
      scheduled.delete(id);
      event({ type: 'Normal', reason: 'TaintManagerEviction', message: `Marking for deletion Pod ${id}` });
      await evict({ ...context, object: pod });
      return undefined;
    });
};

/** How long a Pod may stay on a node: as long as the shortest of the tolerations that its taints need. */
function toleratedSeconds(node: Node | undefined, tolerations: readonly Toleration[]): number {
  const taints = (node?.spec.taints ?? []).filter(({ effect }) => effect === 'NoExecute');
  const used = taints.map(({ key, value = '', effect }) =>
    tolerations.find((toleration) => tolerates([toleration], { key, value, effect })),
  );
  const seconds = used.map((toleration) =>
    toleration === undefined ? 0 : (toleration.tolerationSeconds ?? Number.POSITIVE_INFINITY),
  );
  return Math.max(0, Math.min(Number.POSITIVE_INFINITY, ...seconds));
}

async function evict({ object: pod, client, status }: ReconcileContext<Pod>): Promise<void> {
  const condition = {
    type: 'DisruptionTarget',
    status: 'True' as const,
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
  };
  await status({ conditions: [condition] }).catch(ignoreNotFound);
  await client.delete(Pod, pod.metadata, { preconditions: { uid: pod.metadata.uid } }).catch(ignoreNotFound);
}
