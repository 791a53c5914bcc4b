import type { JsonObject } from 'riata/object';
import { protectionFinalizers } from '../kinds/storage/protection-finalizers.js';
import { metaOf, recordOf, recordsOf, stringsOf, textOf, withMeta } from '../resource/metadata.js';
import type { ObjectStore } from '../resource/object-store.js';
import type { Resource } from '../resource/resource.js';
import type { Storage, StorageEvent, Stored } from '../storage/storage.js';
import type { WorkLoop } from './work-loop.js';

/** Dependencies of {@link StorageProtection}. */
export interface StorageProtectionParts {
  readonly storage: Storage;
  readonly store: ObjectStore;
  readonly loop: WorkLoop;
  readonly claims: Resource;
  readonly volumes: Resource;
  readonly pods: Resource;
  /** VolumeAttributesClasses. */
  readonly classes: Resource;
}

/**
 * Keeps claims, volumes and VolumeAttributesClasses from being deleted while they are in use
 * (`pvc-protection-controller`, `pv-protection-controller`, `vac-protection-controller`).
 */
export class StorageProtection {
  readonly #at: StorageProtectionParts;

  constructor(parts: StorageProtectionParts) {
    this.#at = parts;
  }

  /** Observes every write of the storage. */
  observe(table: string, { key, before, after }: StorageEvent): void {
    const { claims, volumes, pods, classes } = this.#at;
    const resource = [claims, volumes, classes].find((one) => one.table === table);
    if (resource !== undefined && after !== undefined && isGoing(after)) this.#check(resource, key);
    if (table === pods.table && before !== undefined && (after === undefined || hasEnded(after))) {
      for (const name of claimsOf(before)) this.#check(claims, `${before.object.metadata.namespace}/${name}`);
    } else if ((table === claims.table || table === volumes.table) && before !== undefined) {
      for (const name of attributesClassesOf(before)) this.#check(classes, name);
    }
  }

  #check(resource: Resource, key: string): void {
    this.#at.loop.add(`protection of ${resource.plural} ${key}`, () => this.#release(resource, key));
  }

  #release(resource: Resource, key: string): void {
    const { store } = this.#at;
    const finalizer = protectionFinalizers[resource.table as keyof typeof protectionFinalizers];
    const stored = store.findByKey(resource, key);
    if (stored === undefined || !isGoing(stored)) return;
    const object = stored.object as unknown as JsonObject;
    const finalizers = stringsOf(metaOf(object).finalizers);
    if (!finalizers.includes(finalizer) || this.#isInUse(resource, stored)) return;
    const left = finalizers.filter((one) => one !== finalizer);
    const released = withMeta(object, { finalizers: left.length === 0 ? undefined : left });
    if (left.length === 0) store.remove(resource, { ...stored, object: released as never });
    else store.replace(resource, stored, released);
  }

  #isInUse(resource: Resource, stored: Stored): boolean {
    const { storage, claims, volumes } = this.#at;
    if (resource === claims) return this.#isUsed(stored);
    if (resource === volumes) return recordOf((stored.object as unknown as JsonObject).status).phase === 'Bound';
    const users = [claims, volumes].flatMap(({ table }) => storage.list(table).items);
    return users.some((user) => attributesClassesOf(user).includes(stored.object.metadata.name));
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

/** The claims of a Pod; names of ephemeral ones start with the Pod's name. */
function claimsOf({ object }: Stored): string[] {
  const { spec } = object as unknown as JsonObject;
  return recordsOf(recordOf(spec).volumes).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (ephemeral !== undefined) return [`${object.metadata.name}-${textOf(name)}`];
    return persistentVolumeClaim === undefined ? [] : [textOf(recordOf(persistentVolumeClaim).claimName)];
  });
}

/** The VolumeAttributesClasses that a claim or a volume names. */
function attributesClassesOf({ object }: Stored): string[] {
  const { spec, status } = object as unknown as JsonObject;
  const { currentVolumeAttributesClassName, modifyVolumeStatus } = recordOf(status);
  return [
    textOf(recordOf(spec).volumeAttributesClassName),
    textOf(currentVolumeAttributesClassName),
    textOf(recordOf(modifyVolumeStatus).targetVolumeAttributesClassName),
  ].filter((name) => name !== '');
}
