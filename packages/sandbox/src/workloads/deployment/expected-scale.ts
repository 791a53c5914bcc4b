import { type Client, controllerOf, type OwnerReference } from 'riata';
import { Deployment, type Pod, ReplicaSet, ReplicationController, StatefulSet } from 'riata/kinds';

interface Scale {
  readonly uid: string;
  readonly replicas: number;
}

/** The total scale of the controllers of some Pods, and which Pods have no controller. */
export async function expectedScale(
  client: Client,
  pods: readonly Pod[],
): Promise<{ readonly expectedPods: number; readonly unmanaged: readonly Pod[] }> {
  const asked = new Map<string, Scale>();
  const known = new Set<string>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    if (owner === undefined || known.has(owner.uid)) continue;
    const scale = await scaleOf(client, pod.metadata.namespace, owner);
    if (scale === undefined) throw new Error(`found no controllers for pod "${pod.metadata.name}"`);
    known.add(owner.uid);
    asked.set(scale.uid, scale);
  }
  const expectedPods = [...asked.values()].reduce((sum, { replicas }) => sum + replicas, 0);
  return { expectedPods, unmanaged: pods.filter((pod) => controllerOf(pod) === undefined) };
}

/**
 * The scale of a controller: for a ReplicaSet, that of its Deployment; for a kind of unknown shape, its scale
 * subresource.
 */
async function scaleOf(client: Client, namespace: string, owner: OwnerReference): Promise<Scale | undefined> {
  const key = { namespace, name: owner.name };
  const is = (apiVersion: string, kind: string) => owner.apiVersion === apiVersion && owner.kind === kind;
  const kind = is('apps/v1', 'ReplicaSet')
    ? ReplicaSet
    : is('apps/v1', 'Deployment')
      ? Deployment
      : is('apps/v1', 'StatefulSet')
        ? StatefulSet
        : is('v1', 'ReplicationController')
          ? ReplicationController
          : undefined;
  if (kind === undefined) return scaleByDiscovery(client, key, owner);
  const found = await client.find<Deployment | ReplicaSet | StatefulSet | ReplicationController, 'Namespaced'>(
    kind,
    key,
  );
  if (found?.metadata.uid !== owner.uid) return undefined;
  const above = controllerOf(found);
  const isRolledOut = kind === ReplicaSet && above?.kind === 'Deployment';
  const whole = isRolledOut ? await scaleOf(client, namespace, above) : undefined;
  return whole ?? { uid: owner.uid, replicas: found.spec.replicas ?? 1 };
}

async function scaleByDiscovery(
  client: Client,
  key: { readonly namespace: string; readonly name: string },
  owner: OwnerReference,
): Promise<Scale | undefined> {
  const kind = await client.mapper.kindFor(owner);
  if (!kind.subresources.includes('scale')) {
    const { group, resource } = kind.gvr;
    const name = group === '' ? resource : `${resource}.${group}`;
    throw new Error(`${name} does not implement the scale subresource`);
  }
  const { metadata, spec } = await client.subresource('scale').get<ScaleObject>(kind, key);
  return metadata.uid === owner.uid ? { uid: owner.uid, replicas: spec.replicas ?? 0 } : undefined;
}

interface ScaleObject {
  readonly metadata: { readonly uid: string };
  readonly spec: { readonly replicas?: number };
}
