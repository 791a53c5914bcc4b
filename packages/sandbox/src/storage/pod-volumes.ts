import type { Client } from 'riata';
import { type Node, PersistentVolume, PersistentVolumeClaim, type Pod, StorageClass } from 'riata/kinds';
import { matchesNode } from '../node/matches-node.js';
import { claimVolume } from './binding.js';
import { annotations, claimNamesOf, classNameOf, isBound, noProvisioner } from './claims.js';
import { matchingVolume } from './matching-volume.js';

interface Unbound {
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass;
}

/** The constraints of a Pod's claims on its node (the scheduler's `VolumeBinding`). */
export class PodVolumes {
  /** Why it can run nowhere now, in upstream's words; undefined if it can. */
  readonly problem: string | undefined;
  readonly #volumes: readonly PersistentVolume[];
  readonly #bound: readonly PersistentVolume[];
  readonly #unbound: readonly Unbound[];

  private constructor(parts: {
    readonly problem?: string;
    readonly volumes?: readonly PersistentVolume[];
    readonly bound?: readonly PersistentVolume[];
    readonly unbound?: readonly Unbound[];
  }) {
    this.problem = parts.problem;
    this.#volumes = parts.volumes ?? [];
    this.#bound = parts.bound ?? [];
    this.#unbound = parts.unbound ?? [];
  }

  /** Looks the claims of a Pod up; from the cache if it holds them. */
  static async of(pod: Pod, client: Client): Promise<PodVolumes> {
    const names = claimNamesOf(pod);
    if (names.length === 0) return new PodVolumes({});
    const { namespace } = pod.metadata;
    const { items: volumes } = await client.list(PersistentVolume);
    const bound: PersistentVolume[] = [];
    const unbound: Unbound[] = [];
    for (const name of names) {
      const claim = await client.find(PersistentVolumeClaim, { namespace, name });
      const named = `persistentvolumeclaim "${name}"`;
      if (claim === undefined) return new PodVolumes({ problem: `${named} not found` });
      if (claim.metadata.deletionTimestamp !== undefined)
        return new PodVolumes({ problem: `${named} is being deleted` });
      if (isBound(claim)) {
        const volume = volumes.find(({ metadata }) => metadata.name === claim.spec?.volumeName);
        const lost = `${named} bound to non-existent persistentvolume "${claim.spec?.volumeName}"`;
        if (volume === undefined) return new PodVolumes({ problem: lost });
        bound.push(volume);
        continue;
      }
      const className = classNameOf(claim);
      const storageClass = className === '' ? undefined : await client.find(StorageClass, { name: className });
      if (storageClass?.volumeBindingMode !== 'WaitForFirstConsumer') {
        return new PodVolumes({ problem: 'pod has unbound immediate PersistentVolumeClaims' });
      }
      unbound.push({ claim, storageClass });
    }
    return new PodVolumes({ volumes, bound, unbound });
  }

  /** Why the volumes keep the Pod from this node; undefined if they don't. */
  unfit(node: Node): string | undefined {
    if (this.#bound.some(({ spec }) => !matchesNode(spec.nodeAffinity?.required, node))) {
      return "node(s) didn't match PersistentVolume's node affinity";
    }
    const isLost = this.#unbound.some((one) => !this.#canMake(one, node) && this.#match(one, node) === undefined);
    return isLost ? "node(s) didn't find available persistent volumes to bind" : undefined;
  }

  /** Has claims bound for a node; true if all of them are. */
  async bindOn(node: Node, client: Client): Promise<boolean> {
    for (const one of this.#unbound) {
      const { metadata } = one.claim;
      const volume = this.#match(one, node);
      if (volume !== undefined) await claimVolume(client, volume, one.claim);
      else if (metadata.annotations?.[annotations.selectedNode] !== node.metadata.name) {
        const marks = { [annotations.selectedNode]: node.metadata.name };
        await client.patch(PersistentVolumeClaim, metadata, {
          type: 'merge',
          body: { metadata: { annotations: marks } },
        });
      }
    }
    return this.#unbound.length === 0;
  }

  #match({ claim }: Unbound, node: Node): PersistentVolume | undefined {
    return matchingVolume(claim, this.#volumes, { node });
  }

  #canMake({ storageClass }: Unbound, { metadata }: Node): boolean {
    if (storageClass.provisioner === noProvisioner) return false;
    const { allowedTopologies = [] } = storageClass;
    return (
      allowedTopologies.length === 0 ||
      allowedTopologies.some(({ matchLabelExpressions = [] }) =>
        matchLabelExpressions.every(({ key, values }) => values.includes(metadata.labels?.[key] ?? '')),
      )
    );
  }
}
