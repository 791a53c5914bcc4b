import { isAlreadyExists, isDeleting, isNotFound, type ReconcileContext } from 'riata';
import { type ControllerRevision, PersistentVolumeClaim, Pod, type StatefulSet } from 'riata/kinds';
import { templateOf } from './controller-revision.js';
import { errorText } from './pod-control.js';
import { podFrom } from './pod-from.js';

/** Names the revision that a Pod of a StatefulSet was made from. */
export const hashLabel = 'controller-revision-hash';

/** Creates a Pod of a StatefulSet with its claims, from the template of a revision. */
export async function createStatefulPod(
  context: ReconcileContext<StatefulSet>,
  ordinal: number,
  revision: ControllerRevision,
): Promise<void> {
  const { object: set, client, event } = context;
  const { name: owner } = set.metadata;
  const name = `${owner}-${ordinal}`;
  const template = templateOf(revision);
  try {
    const claims = await createClaims(context, name);
    const others = (template.spec?.volumes ?? []).filter(
      (volume) => !claims.some((claim) => claim.name === volume.name),
    );
    const volumes = [...others, ...claims];
    const labels = {
      [hashLabel]: revision.metadata.name,
      'statefulset.kubernetes.io/pod-name': name,
      'apps.kubernetes.io/pod-index': String(ordinal),
    };
    const spec = {
      hostname: name,
      ...(set.spec.serviceName && { subdomain: set.spec.serviceName }),
      ...(volumes.length > 0 && { volumes }),
    };
    await client.create(podFrom(set, template, { name }, { labels, spec }));
  } catch (error) {
    if (!isAlreadyExists(error)) {
      const message = `Create Pod ${name} in StatefulSet ${owner} failed error: ${errorText(error)}`;
      event({ type: 'Warning', reason: 'FailedCreate', message });
    }
    throw error;
  }
  const message = `Create Pod ${name} in StatefulSet ${owner} successful`;
  event({ type: 'Normal', reason: 'SuccessfulCreate', message });
}

/** Creates the claims of a Pod that are not there yet; returns the volumes that refer to them. */
async function createClaims({ object: set, client, event }: ReconcileContext<StatefulSet>, pod: string) {
  const { namespace, name: owner } = set.metadata;
  const volumes: { readonly name: string; readonly persistentVolumeClaim: { readonly claimName: string } }[] = [];
  for (const { metadata: { name: volume = '', ...meta } = {}, spec = {} } of set.spec.volumeClaimTemplates ?? []) {
    const name = `${volume}-${pod}`;
    volumes.push({ name: volume, persistentVolumeClaim: { claimName: name } });
    const known = await client.find(PersistentVolumeClaim, { namespace, name });
    if (known !== undefined) {
      if (isDeleting(known)) throw new Error(`pvc ${name} is being deleted`);
      continue;
    }
    const labels = { ...meta.labels, ...set.spec.selector.matchLabels };
    const metadata = { namespace, name, labels, ...(meta.annotations && { annotations: meta.annotations }) };
    try {
      await client.create(PersistentVolumeClaim({ metadata, spec }));
    } catch (error) {
      if (isAlreadyExists(error)) continue;
      const message = `Create Claim ${name} for Pod ${pod} in StatefulSet ${owner} failed error: ${errorText(error)}`;
      event({ type: 'Warning', reason: 'FailedCreate', message });
      throw new Error(`failed to create PVC ${name}: ${errorText(error)}`, { cause: error });
    }
    const message = `Create Claim ${name} Pod ${pod} in StatefulSet ${owner} success`;
    event({ type: 'Normal', reason: 'SuccessfulCreate', message });
  }
  return volumes;
}

/** Deletes a Pod of a StatefulSet; it may be deleted already. */
export async function deleteStatefulPod(
  { object: set, client, event }: ReconcileContext<StatefulSet>,
  { metadata }: Pod,
): Promise<void> {
  const what = `Delete Pod ${metadata.name} in StatefulSet ${set.metadata.name}`;
  try {
    await client.delete(Pod, metadata);
  } catch (error) {
    if (!isNotFound(error)) {
      event({ type: 'Warning', reason: 'FailedDelete', message: `${what} failed error: ${errorText(error)}` });
      throw error;
    }
  }
  event({ type: 'Normal', reason: 'SuccessfulDelete', message: `${what} successful` });
}
