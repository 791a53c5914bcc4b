import { control, isAlreadyExists } from 'riata';
import { PersistentVolumeClaim, Pod } from 'riata/kinds';
import { controllerReference, isActive } from '../workloads/pods.js';

/** Creates the claims of a Pod's ephemeral volumes, which go with it (`ephemeral-volume-controller`). */
export const ephemeralClaims = control(Pod, { name: 'ephemeral-volume' })
  .reads(PersistentVolumeClaim)
  .reconcile(async ({ object: pod, client }) => {
    if (!isActive(pod)) return;
    const { namespace } = pod.metadata;
    for (const { name: volume, ephemeral } of pod.spec.volumes ?? []) {
      if (ephemeral?.volumeClaimTemplate === undefined) continue;
      const { metadata = {}, spec } = ephemeral.volumeClaimTemplate;
      const name = `${pod.metadata.name}-${volume}`;
      if ((await client.find(PersistentVolumeClaim, { namespace, name })) !== undefined) continue;
      const { labels, annotations } = metadata;
      const ownerReferences = [controllerReference(pod)];
      const marks = { ...(labels && { labels }), ...(annotations && { annotations }) };
      const claim = PersistentVolumeClaim({ metadata: { namespace, name, ownerReferences, ...marks }, spec });
      await client.create(claim).catch((error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
      });
    }
  });
