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
  /** How a controller of kube-controller-manager deletes an object: admission control has its say. */
  deleting: ControllerDeletes;
}

const foreground = 'foregroundDeletion';
const orphan = 'orphan';
/** Events are many and live for an hour: they neither own nor are owned. */
const ignored: ReadonlySet<string> = new Set(['/events']);
/** How many owners are remembered that are gone. */
const maxAbsent = 1_000;

interface Found {
  readonly resource: Resource;
  readonly stored: Stored;
}

/** What is known of an owner: it is there, waits for its dependents, was never or is no more, or cannot be told. */
type OwnerState = 'solid' | 'waiting' | 'dangling' | 'unknown';

/**
 * Deletes what nobody owns any more, and sees foreground and orphaning deletions through, as kube-controller-manager
 * does: driven by the writes of all resources.
 */
export class GarbageCollector {
  readonly #graph = new OwnershipGraph();
  readonly #at: Surroundings;
  /** Where owners were that are gone, by uid: this is known even when their kind is not served any more. */
  readonly #absent = new Map<string, string>();

  constructor(surroundings: Surroundings) {
    this.#at = surroundings;
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
    // An owner that waits for its dependents may have one less, or one that does not block it any more.
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

  /** Deletes an object that nobody owns any more; one that has owners left forgets those that are gone or go. */
  *#check(uid: string): Steps<void> {
    const found = this.#load(this.#graph.place(uid));
    // What is to be deleted is, with or without owners.
    if (found === undefined || found.stored.object.metadata.deletionTimestamp !== undefined) return;
    const { object } = found.stored;
    const owners = object.metadata.ownerReferences ?? [];
    if (owners.length === 0) return;
    const states = owners.map((owner) => this.#stateOf(owner, object));
    // Nothing is deleted on a guess.
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
    // A dependent that waits for its own ones, as does an owner: a circle, that is broken here.
    if (dependents.some((dependent) => this.#isWaiting(dependent))) this.#unblock(uid);
    const now = this.#load(this.#graph.place(uid));
    if (now !== undefined) yield* this.#delete(now, 'Foreground');
  }

  /** Goes on with an object that is to be deleted and has a finalizer of ours. */
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

  /** Owners are looked up as they are named: in the dependent's namespace, or in none. */
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
      // It may have gone while somebody was asked.
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

/** Whether an object is to be deleted and waits for the garbage collector. */
function isWaiting({ metadata: { deletionTimestamp, finalizers } }: KubeObject): boolean {
  const list = stringsOf(finalizers);
  return deletionTimestamp !== undefined && (list.includes(orphan) || list.includes(foreground));
}

/** What an object was to do with its dependents before its own owners went. */
function policyOf({ metadata }: KubeObject): string {
  const finalizers = stringsOf(metadata.finalizers);
  if (finalizers.includes(orphan)) return 'Orphan';
  return finalizers.includes(foreground) ? 'Foreground' : 'Background';
}

function unblocked(owner: OwnerReference): OwnerReference {
  return { ...owner, blockOwnerDeletion: false };
}
