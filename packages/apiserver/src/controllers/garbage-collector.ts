import type { JsonObject, KubeObject, OwnerReference } from 'riata/object';
import { deleteSteps } from '../resource/delete-object.js';
import { stringsOf, withMeta } from '../resource/metadata.js';
import { keyFor, type ObjectStore } from '../resource/object-store.js';
import { type Resource, resourceOfStored } from '../resource/resource.js';
import type { WriteContext } from '../resource/write-context.js';
import { Refusal } from '../status/refusal.js';
import type { Steps } from '../steps.js';
import type { StorageEvent, Stored } from '../storage/storage.js';
import type { ControllerDeletes } from './controller-deletes.js';
import { OwnershipGraph, type Place } from './ownership-graph.js';
import type { WorkLoop } from './work-loop.js';

/** Dependencies of {@link GarbageCollector}. */
export interface GarbageCollectorParts {
  readonly store: ObjectStore;
  readonly loop: WorkLoop;
  /** The resource of a table. */
  resourceOf(table: string): Resource | undefined;
  /** The resource of a kind; undefined if it isn't served. */
  resourceFor(apiVersion: string, kind: string): Resource | undefined;
  /** The context of the server's own writes. */
  context(): WriteContext;
  /** Deletes an object as a controller's ServiceAccount, subject to admission control. */
  deleting: ControllerDeletes;
}

const foreground = 'foregroundDeletion';
const orphan = 'orphan';
/** Events are ignored: there are many, they live for an hour, and neither own nor are owned. */
const ignored: ReadonlySet<string> = new Set(['/events']);
/** How many deleted owners to remember. */
const maxAbsent = 1_000;

interface Found {
  readonly resource: Resource;
  readonly stored: Stored;
}

/** The state of an owner: it exists, waits for its dependents, doesn't exist, or is unknown. */
type OwnerState = 'solid' | 'waiting' | 'dangling' | 'unknown';

/**
 * Deletes objects whose owners are all gone, and completes foreground and orphaning deletions, as
 * kube-controller-manager does. Driven by the writes of all resources.
 */
export class GarbageCollector {
  readonly #graph = new OwnershipGraph();
  readonly #at: GarbageCollectorParts;
  /** Deleted owners by UID. They are known to be gone even when their kind is no longer served. */
  readonly #absent = new Map<string, string>();

  constructor(parts: GarbageCollectorParts) {
    this.#at = parts;
  }

  /** Observes every write of the storage. */
  observe(table: string, event: StorageEvent): void {
    if (ignored.has(table)) return;
    const { before, after, key } = event;
    const gone = before !== undefined && before.object.metadata.uid !== after?.object.metadata.uid;
    if (gone) this.#forget(before);
    if (after !== undefined) {
      const { uid, ownerReferences = [] } = after.object.metadata;
      this.#graph.set(table, key, after.object);
      if (ownerReferences.length > 0) this.#checkLater(uid);
      if (isWaiting(after.object)) {
        if (gone || before === undefined || !isWaiting(before.object)) {
          for (const dependent of this.#graph.dependentsOf(uid)) this.#checkLater(dependent.uid);
        }
        this.#finishLater(uid);
      }
    }
    // An owner may wait for this dependent, which is gone or no longer blocks it.
    for (const { uid } of before?.object.metadata.ownerReferences ?? []) this.#finishLater(uid);
  }

  #forget({ object, key }: Stored): void {
    const { uid } = object.metadata;
    const dependents = this.#graph.dependentsOf(uid);
    this.#graph.delete(uid);
    if (dependents.length === 0) return;
    this.#absent.set(uid, key);
    const [oldest] = this.#absent.keys();
    if (this.#absent.size > maxAbsent && oldest !== undefined) this.#absent.delete(oldest);
    for (const dependent of dependents) this.#checkLater(dependent.uid);
  }

  #checkLater(uid: string): void {
    this.#at.loop.add(`owners of ${uid}`, () => this.#check(uid));
  }

  #finishLater(uid: string): void {
    this.#at.loop.add(`finish ${uid}`, () => this.#finish(uid));
  }

  /**
   * Deletes an object without remaining owners; else removes the references to owners that are gone or being deleted.
   */
  *#check(uid: string): Steps<void> {
    const found = this.#load(this.#graph.place(uid));
    // It is being deleted already, with or without owners.
    if (found === undefined || found.stored.object.metadata.deletionTimestamp !== undefined) return;
    const { object } = found.stored;
    const owners = object.metadata.ownerReferences ?? [];
    if (owners.length === 0) return;
    const states = owners.map((owner) => this.#stateOf(owner, object));
    // Never delete while the state of an owner is unknown.
    if (states.includes('unknown')) return;
    if (states.includes('solid')) {
      if (states.every((state) => state === 'solid')) return;
      this.#write(found, { ownerReferences: owners.filter((_, i) => states[i] === 'solid') });
      return;
    }
    const dependents = this.#graph.dependentsOf(uid);
    if (!states.includes('waiting') || dependents.length === 0) {
      yield* this.#delete(found, policyOf(object));
      return;
    }
    // The dependent waits for its own dependents, and its owner for it: break the cycle here.
    if (dependents.some((dependent) => this.#isWaiting(dependent))) this.#unblock(uid);
    const now = this.#load(this.#graph.place(uid));
    if (now !== undefined) yield* this.#delete(now, 'Foreground');
  }

  /** Continues the deletion of an object with one of the garbage collector's finalizers. */
  #finish(uid: string): void {
    const found = this.#load(this.#graph.place(uid));
    if (found === undefined || !isWaiting(found.stored.object)) return;
    const finalizers = stringsOf(found.stored.object.metadata.finalizers);
    const dependents = this.#graph.dependentsOf(uid);
    if (finalizers.includes(orphan)) {
      for (const dependent of dependents) this.#disown(dependent, uid);
      this.#dropFinalizer(uid, orphan);
      return;
    }
    const blocking = dependents.filter((dependent) => this.#blocks(dependent, uid));
    if (blocking.length === 0) this.#dropFinalizer(uid, foreground);
    for (const dependent of blocking) if (!this.#isWaiting(dependent)) this.#checkLater(dependent.uid);
  }

  /** Looks up an owner by its reference: in the dependent's namespace, or cluster-scoped. */
  #stateOf({ apiVersion, kind, name, uid }: OwnerReference, { metadata }: KubeObject): OwnerState {
    const { namespace = '' } = metadata;
    const known = this.#absent.get(uid);
    if (known !== undefined && (known === name || known === keyFor(namespace, name))) return 'dangling';
    const resource = this.#at.resourceFor(apiVersion, kind);
    if (resource === undefined) return 'unknown';
    const namespaced = resource.scope === 'Namespaced';
    if (namespaced && namespace === '') return 'unknown';
    const owner = this.#at.store.find(resource, namespaced ? namespace : '', name)?.object;
    if (owner?.metadata.uid !== uid) return 'dangling';
    return isWaiting(owner) && stringsOf(owner.metadata.finalizers).includes(foreground) ? 'waiting' : 'solid';
  }

  #isWaiting(place: Place): boolean {
    const object = this.#load(place)?.stored.object;
    return object !== undefined && isWaiting(object) && stringsOf(object.metadata.finalizers).includes(foreground);
  }

  #blocks(dependent: Place, owner: string): boolean {
    const { ownerReferences = [] } = this.#load(dependent)?.stored.object.metadata ?? {};
    return ownerReferences.some((o) => o.uid === owner && o.blockOwnerDeletion === true);
  }

  #unblock(uid: string): void {
    const found = this.#load(this.#graph.place(uid));
    if (found === undefined) return;
    const owners = found.stored.object.metadata.ownerReferences ?? [];
    this.#write(found, { ownerReferences: owners.map((o) => (o.blockOwnerDeletion ? unblocked(o) : o)) });
  }

  #disown(place: Place, owner: string): void {
    const found = this.#load(place);
    if (found === undefined) return;
    const kept = (found.stored.object.metadata.ownerReferences ?? []).filter((o) => o.uid !== owner);
    this.#write(found, { ownerReferences: kept });
  }

  #dropFinalizer(uid: string, finalizer: string): void {
    const found = this.#load(this.#graph.place(uid));
    if (found === undefined) return;
    const kept = stringsOf(found.stored.object.metadata.finalizers).filter((f) => f !== finalizer);
    this.#write(found, { finalizers: kept });
  }

  #write({ resource, stored }: Found, change: { readonly [field: string]: readonly unknown[] }): void {
    const { namespace = '', name } = stored.object.metadata;
    const lists = Object.entries(change).map(([field, list]) => [field, list.length === 0 ? undefined : list]);
    const make = (live: JsonObject) => withMeta(live, Object.fromEntries(lists));
    const context = { ...this.#at.context(), fieldManager: 'kube-controller-manager' };
    this.#at.store.update(resource, namespace, name, { subresource: '', make }, context);
  }

  *#delete({ resource, stored }: Found, propagationPolicy: string): Steps<void> {
    const { namespace = '', name, uid } = stored.object.metadata;
    const request = { propagationPolicy, preconditions: { uid } };
    const context = this.#at.deleting('generic-garbage-collector', { resource, namespace, name }, request);
    try {
      yield* deleteSteps(this.#at.store, resource, namespace, name, request, context);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // It may have been deleted while a webhook was called.
      if (this.#load(this.#graph.place(uid)) === undefined) return;
      this.#at.loop.retry(`owners of ${uid}`, () => this.#check(uid), error.message);
    }
  }

  #load(place: Place | undefined): Found | undefined {
    const resource = place === undefined ? undefined : this.#at.resourceOf(place.table);
    if (place === undefined || resource === undefined) return undefined;
    const stored = this.#at.store.findByKey(resource, place.key);
    if (stored?.object.metadata.uid !== place.uid) return undefined;
    return { resource: resourceOfStored(resource, stored.object), stored };
  }
}

/** Whether an object is being deleted and has one of the garbage collector's finalizers. */
function isWaiting({ metadata: { deletionTimestamp, finalizers } }: KubeObject): boolean {
  const list = stringsOf(finalizers);
  return deletionTimestamp !== undefined && (list.includes(orphan) || list.includes(foreground));
}

/** The propagation policy that an object's finalizers ask for. */
function policyOf({ metadata }: KubeObject): string {
  const finalizers = stringsOf(metadata.finalizers);
  if (finalizers.includes(orphan)) return 'Orphan';
  return finalizers.includes(foreground) ? 'Foreground' : 'Background';
}

function unblocked(owner: OwnerReference): OwnerReference {
  return { ...owner, blockOwnerDeletion: false };
}
