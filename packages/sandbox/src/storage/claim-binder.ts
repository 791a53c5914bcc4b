import { control, type ReconcileContext } from 'riata';
import { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from 'riata/kinds';
import { LastEvents } from '../workloads/last-events.js';
import { bind } from './binding.js';
import {
  annotations,
  claimNamesOf,
  classNameOf,
  isBound,
  isMeantFor,
  noProvisioner,
  waitsForConsumer,
} from './claims.js';
import { matchingVolume, volumeProblem } from './matching-volume.js';

type Context = ReconcileContext<PersistentVolumeClaim>;

/** Binds claims to volumes, and requests a volume where none matches (`persistentvolume-binder-controller`). */
export const claimBinder = () => {
  const events = new LastEvents();
  return control(PersistentVolumeClaim, { name: 'persistentvolume-binder' })
    .watches(PersistentVolume, async (volume, reader) => {
      const { claimRef, ...spec } = volume.spec;
      if (claimRef?.name !== undefined) return [{ namespace: claimRef.namespace ?? '', name: claimRef.name }];
      const { items } = await reader.list(PersistentVolumeClaim);
      const concerned = items.filter((claim) => claim.spec?.volumeName === volume.metadata.name || !isBound(claim));
      return concerned
        .filter((claim) => classNameOf(claim) === (spec.storageClassName ?? ''))
        .map(({ metadata }) => metadata);
    })
    .watches(StorageClass, async (_, reader) => {
      const { items } = await reader.list(PersistentVolumeClaim);
      return items.filter((claim) => !isBound(claim)).map(({ metadata }) => metadata);
    })
    .watches(Pod, (pod) => claimNamesOf(pod).map((name) => ({ namespace: pod.metadata.namespace, name })), {
      // The event of a claim that waits names the Pods that use it.
      predicates: [({ old, new: now }) => old === undefined || now === undefined],
    })
    .evenWhenGone()
    .reconcile(async (context) => {
      const { object: claim, key } = context;
      if (claim === undefined) return events.forget(key);
      if (claim.metadata.annotations?.[annotations.bindCompleted] !== undefined) {
        events.forget(key);
        await check({ ...context, object: claim });
      } else if (claim.metadata.deletionTimestamp === undefined) {
        await find({ ...context, object: claim, event: (event) => events.emit(context, event) });
      }
    });
};

/** A claim that was bound: its volume must be there, and be its own. */
async function check({ object: claim, client, event }: Context): Promise<void> {
  const name = claim.spec?.volumeName ?? '';
  const lose = async (reason: string, message: string) => {
    if (claim.status?.phase === 'Lost') return;
    const status = { phase: 'Lost', accessModes: null, capacity: null };
    await client.status.patch(PersistentVolumeClaim, claim.metadata, { type: 'merge', body: { status } });
    event({ type: 'Warning', reason, message });
  };
  const lost = 'Data on the volume is lost!';
  if (name === '') return lose('ClaimLost', `Bound claim has lost reference to PersistentVolume. ${lost}`);
  const volume = await client.find(PersistentVolume, { name });
  if (volume === undefined) return lose('ClaimLost', `Bound claim has lost its PersistentVolume. ${lost}`);
  const owner = volume.spec.claimRef?.uid;
  if (owner === undefined || owner === claim.metadata.uid) return bind(client, volume, claim);
  return lose('ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly');
}

/** A claim that has no volume yet. */
async function find(context: Context): Promise<void> {
  const { object: claim, client, event } = context;
  const named = claim.spec?.volumeName ?? '';
  if (named !== '') return bindNamed(context, named);
  const storageClass = await classFor(context);
  const isWaiting = waitsForConsumer(claim, storageClass);
  const { items: volumes } = await client.list(PersistentVolume);
  const volume = matchingVolume(claim, volumes, { onlyMeantFor: isWaiting });
  if (volume !== undefined) return bind(client, volume, claim);
  const className = storageClass?.metadata.name ?? classNameOf(claim);
  if (isWaiting) {
    const { items } = await client.list(Pod, { namespace: claim.metadata.namespace });
    const pods = items
      .filter((pod) => claimNamesOf(pod).includes(claim.metadata.name))
      .map(({ metadata }) => metadata.name);
    const [reason, message] =
      pods.length === 0
        ? ['WaitForFirstConsumer', 'waiting for first consumer to be created before binding']
        : ['WaitForPodScheduled', `waiting for pod ${pods.join(',')} to be scheduled`];
    event({ type: 'Normal', reason, message });
  } else if (className === '') {
    const message = 'no persistent volumes available for this claim and no storage class is set';
    event({ type: 'Normal', reason: 'FailedBinding', message });
  } else await provision(context, className, storageClass);
}

async function bindNamed({ object: claim, client, event }: Context, name: string): Promise<void> {
  const volume = await client.find(PersistentVolume, { name });
  if (volume === undefined) return;
  const isFree = volume.spec.claimRef === undefined;
  if (!isFree && !isMeantFor(volume, claim)) return;
  const problem = isFree ? volumeProblem(volume, claim) : undefined;
  if (problem !== undefined) {
    const message = `Cannot bind to requested volume "${name}": ${problem}`;
    event({ type: 'Warning', reason: 'VolumeMismatch', message });
    return;
  }
  await bind(client, volume, claim);
}

/** The class of a claim. One that names none gets the default class, even if that came later than the claim. */
async function classFor({ object: claim, client }: Context): Promise<StorageClass | undefined> {
  const name = classNameOf(claim);
  if (name !== '') return client.find(StorageClass, { name });
  if (claim.spec?.storageClassName !== undefined) return undefined;
  const { items } = await client.list(StorageClass);
  const [storageClass] = items
    .filter(({ metadata }) => metadata.annotations?.[annotations.defaultClass] === 'true')
    .sort((a, b) => Date.parse(b.metadata.creationTimestamp) - Date.parse(a.metadata.creationTimestamp));
  if (storageClass === undefined) return undefined;
  const body = { spec: { storageClassName: storageClass.metadata.name } };
  await client.patch(PersistentVolumeClaim, claim.metadata, { type: 'merge', body });
  return storageClass;
}

/** Requests a volume from the provisioner of a class. */
async function provision(
  { object: claim, client, event }: Context,
  className: string,
  storageClass: StorageClass | undefined,
): Promise<void> {
  const fail = (message: string) => event({ type: 'Warning', reason: 'ProvisioningFailed', message });
  if (storageClass === undefined) return fail(`storageclass.storage.k8s.io "${className}" not found`);
  const { provisioner } = storageClass;
  if (provisioner === noProvisioner) return fail(`no volume plugin matched name: ${provisioner}`);
  if (claim.metadata.annotations?.[annotations.provisioner] !== provisioner) {
    const marks = { [annotations.provisioner]: provisioner, [annotations.oldProvisioner]: provisioner };
    await client.patch(PersistentVolumeClaim, claim.metadata, {
      type: 'merge',
      body: { metadata: { annotations: marks } },
    });
  }
  const message = `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
  event({ type: 'Normal', reason: 'ExternalProvisioning', message });
}
