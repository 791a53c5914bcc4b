import type { JsonObject } from 'riata/object';
import { protectionFinalizers } from '../kinds/storage/protection.js';
import { metaOf, recordOf, recordsOf, stringsOf, textOf, withMeta } from '../resource/metadata.js';
import type { ObjectStore } from '../resource/object-store.js';
import type { Resource } from '../resource/resource.js';
import type { Storage, StorageEvent, Stored } from '../storage/storage.js';
import type { WorkLoop } from './work-loop.js';

/** What the protection of storage has to see of the server. */
export interface StorageProtectionSurroundings {
  readonly storage: Storage;
  readonly store: ObjectStore;
  readonly loop: WorkLoop;
  readonly claims: Resource;
  readonly volumes: Resource;
  readonly pods: Resource;
}

/**
 * Keeps claims that Pods use and volumes that claims use until they are used no more
 * (`pvc-protection-controller`, `pv-protection-controller`).
 */
export class StorageProtection {
  readonly #at: StorageProtectionSurroundings;

  constructor(surroundings: StorageProtectionSurroundings) {
    this.#at = surroundings;
  }

  /** Observes every write of the storage. */
  observe(table: string, { key, before, after }: StorageEvent): void {
    const { claims, volumes, pods } = this.#at;
    if (table === claims.table || table === volumes.table) {
      const resource = table === claims.table ? claims : volumes;
      if (after !== undefined && isGoing(after)) this.#check(resource, key);
    } else if (table === pods.table && before !== undefined && (after === undefined || hasEnded(after))) {
      for (const name of claimsOf(before)) this.#check(claims, `${before.object.metadata.namespace}/${name}`);
    }
  }

  #check(resource: Resource, key: string): void {
    this.#at.loop.add(`protection of ${resource.plural} ${key}`, () => this.#release(resource, key));
  }

  #release(resource: Resource, key: string): void {
    const { store, claims } = this.#at;
    const finalizer = protectionFinalizers[resource.plural as keyof typeof protectionFinalizers];
    const stored = store.findByKey(resource, key);
    if (stored === undefined || !isGoing(stored)) return;
    const object = stored.object as unknown as JsonObject;
    const finalizers = stringsOf(metaOf(object).finalizers);
    if (!finalizers.includes(finalizer)) return;
    if (resource === claims ? this.#isUsed(stored) : recordOf(object.status).phase === 'Bound') return;
    const left = finalizers.filter((one) => one !== finalizer);
    const released = withMeta(object, { finalizers: left.length === 0 ? undefined : left });
    if (left.length === 0) store.remove(resource, { ...stored, object: released as never });
    else store.replace(resource, stored, released, { dryRun: false });
  }

  #isUsed({ object }: Stored): boolean {
    const { name, namespace } = object.metadata;
    const { items } = this.#at.storage.list(this.#at.pods.table, { prefix: `${namespace}/` });
    return items.some((pod) => !hasEnded(pod) && claimsOf(pod).includes(name));
  }
}

function isGoing({ object }: Stored): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

function hasEnded({ object }: Stored): boolean {
  const { phase } = recordOf((object as unknown as JsonObject).status);
  return phase === 'Succeeded' || phase === 'Failed';
}

/** The claims that a Pod names; those made for it have its name in theirs. */
function claimsOf({ object }: Stored): string[] {
  const { spec } = object as unknown as JsonObject;
  return recordsOf(recordOf(spec).volumes).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (ephemeral !== undefined) return [`${object.metadata.name}-${textOf(name)}`];
    return persistentVolumeClaim === undefined ? [] : [textOf(recordOf(persistentVolumeClaim).claimName)];
  });
}
