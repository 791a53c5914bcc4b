import type { JsonObject, KubeObject, OwnerReference } from 'riata/object';
import { deleteObject } from '../resource/delete-object.js';
import { metaOf, stringsOf, textOf, withMeta } from '../resource/metadata.js';
import { isFinished, type ObjectStore } from '../resource/object-store.js';
import type { Resource } from '../resource/resource.js';
import type { WriteContext } from '../resource/write-context.js';
import type { StorageEvent, Stored } from '../storage/storage.js';
import { OwnershipGraph, type Place } from './ownership-graph.js';
import type { WorkLoop } from './work-loop.js';

/** What the garbage collector has to see of the server. */
export interface Surroundings {
  readonly store: ObjectStore;
  readonly loop: WorkLoop;
  /** The resource whose objects live in this table. */
  resourceOf(table: string): Resource | undefined;
  /** Whether a kind exists here, and where its objects live. */
  resourceFor(apiVersion: string, kind: string): Resource | undefined;
  /** How the server itself writes. */
  context(): WriteContext;
}

const foreground = 'foregroundDeletion';
const orphan = 'orphan';

/**
 * Deletes what nobody owns any more, and sees foreground and orphaning deletions through, as kube-controller-manager
 * does: driven by the writes of all resources.
 */
export class GarbageCollector {
  readonly #graph = new OwnershipGraph();
  readonly #at: Surroundings;

  constructor(surroundings: Surroundings) {
    this.#at = surroundings;
  }

  /** To be told of every write. */
  observe(table: string, event: StorageEvent): void {
    const { before, after, key } = event;
    if (before !== undefined && before.object.metadata.uid !== after?.object.metadata.uid) {
      const { uid } = before.object.metadata;
      const dependents = this.#graph.dependentsOf(uid);
      this.#graph.delete(uid);
      for (const dependent of dependents) this.#check(dependent.uid);
      this.#checkOwnersOf(before.object);
    }
    if (after === undefined) return;
    const { uid, ownerReferences = [], deletionTimestamp } = after.object.metadata;
    this.#graph.set(table, key, after.object);
    if (ownerReferences.length > 0) this.#check(uid);
    if (deletionTimestamp !== undefined) this.#at.loop.add(`finish ${uid}`, () => this.#finish(uid));
    if (before !== undefined) this.#checkOwnersOf(before.object);
  }

  #check(uid: string): void {
    this.#at.loop.add(`owners of ${uid}`, () => this.#checkOwners(uid));
  }

  /** An owner that waits for its dependents may have one less. */
  #checkOwnersOf(object: KubeObject): void {
    for (const { uid } of object.metadata.ownerReferences ?? []) {
      this.#at.loop.add(`finish ${uid}`, () => this.#finish(uid));
    }
  }

  /** Deletes an object whose owners are all gone; one that has others left forgets those that are. */
  #checkOwners(uid: string): void {
    const found = this.#load(this.#graph.place(uid));
    if (found === undefined) return;
    const { resource, stored } = found;
    const owners = stored.object.metadata.ownerReferences ?? [];
    const gone = owners.filter((owner) => !this.#exists(owner, stored.object));
    const waiting = owners.filter((owner) => !gone.includes(owner) && this.#waitsForDependents(owner.uid));
    if (gone.length === 0) return;
    if (gone.length + waiting.length < owners.length) {
      const kept = owners.filter((owner) => !gone.includes(owner) && !waiting.includes(owner));
      this.#write(resource, stored, { ownerReferences: kept });
      return;
    }
    const policy = waiting.length > 0 ? 'Foreground' : this.#policyOf(stored.object);
    this.#delete(resource, stored, policy);
  }

  /** Goes on with an object that is to be deleted and has a finalizer of ours. */
  #finish(uid: string): void {
    const found = this.#load(this.#graph.place(uid));
    if (found === undefined || found.stored.object.metadata.deletionTimestamp === undefined) return;
    const { resource, stored } = found;
    const finalizers = stringsOf(stored.object.metadata.finalizers);
    if (finalizers.includes(orphan)) {
      for (const dependent of this.#graph.dependentsOf(uid)) this.#disown(dependent, uid);
      this.#dropFinalizer(resource, stored, orphan);
    } else if (finalizers.includes(foreground)) {
      const dependents = this.#graph.dependentsOf(uid).flatMap((place) => this.#load(place) ?? []);
      for (const dependent of dependents) {
        if (dependent.stored.object.metadata.deletionTimestamp !== undefined) continue;
        this.#delete(dependent.resource, dependent.stored, 'Foreground');
      }
      const blocking = dependents.filter(({ stored: d }) =>
        d.object.metadata.ownerReferences?.some((o) => o.uid === uid && o.blockOwnerDeletion === true),
      );
      if (blocking.every(({ stored: d, resource: r }) => this.#at.store.findByKey(r, d.key) === undefined)) {
        this.#dropFinalizer(resource, stored, foreground);
      }
    }
  }

  #exists(owner: OwnerReference, dependent: KubeObject): boolean {
    const place = this.#graph.place(owner.uid);
    if (place !== undefined) {
      // An owner in another namespace is none: names are looked up in the dependent's.
      const namespace = place.key.includes('/') ? place.key.slice(0, place.key.indexOf('/')) : '';
      return namespace === '' || namespace === dependent.metadata.namespace;
    }
    // A kind that is not served now may be served again: nothing is deleted on a guess.
    return this.#at.resourceFor(owner.apiVersion, owner.kind) === undefined;
  }

  #waitsForDependents(uid: string): boolean {
    const found = this.#load(this.#graph.place(uid));
    const { deletionTimestamp, finalizers } = found?.stored.object.metadata ?? {};
    return deletionTimestamp !== undefined && stringsOf(finalizers).includes(foreground);
  }

  #policyOf(object: KubeObject): string {
    const finalizers = stringsOf(object.metadata.finalizers);
    if (finalizers.includes(orphan)) return 'Orphan';
    return finalizers.includes(foreground) ? 'Foreground' : 'Background';
  }

  #disown(place: Place, owner: string): void {
    const found = this.#load(place);
    if (found === undefined) return;
    const kept = (found.stored.object.metadata.ownerReferences ?? []).filter((o) => o.uid !== owner);
    this.#write(found.resource, found.stored, { ownerReferences: kept });
  }

  #dropFinalizer(resource: Resource, stored: Stored, finalizer: string): void {
    const kept = stringsOf(stored.object.metadata.finalizers).filter((f) => f !== finalizer);
    this.#write(resource, stored, { finalizers: kept });
  }

  #write(resource: Resource, stored: Stored, change: { readonly [field: string]: readonly unknown[] }): void {
    const lists = Object.entries(change).map(([field, list]) => [field, list.length === 0 ? undefined : list]);
    const object = withMeta(stored.object as unknown as JsonObject, Object.fromEntries(lists));
    const going = textOf(metaOf(object).deletionTimestamp) !== '';
    if (going && isFinished(object)) this.#at.store.remove(resource, stored);
    else this.#at.store.replace(resource, stored, object, { dryRun: false });
  }

  #delete(resource: Resource, stored: Stored, propagationPolicy: string): void {
    const { namespace = '', name, uid } = stored.object.metadata;
    const request = { propagationPolicy, preconditions: { uid } };
    deleteObject(this.#at.store, resource, namespace, name, request, this.#at.context());
  }

  #load(place: Place | undefined): { readonly resource: Resource; readonly stored: Stored } | undefined {
    const resource = place === undefined ? undefined : this.#at.resourceOf(place.table);
    if (place === undefined || resource === undefined) return undefined;
    const stored = this.#at.store.findByKey(resource, place.key);
    return stored?.object.metadata.uid === place.uid ? { resource, stored } : undefined;
  }
}
