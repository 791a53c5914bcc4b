import { equal, isJsonObject, type JsonObject } from 'riata/object';
import { ownRootCertificate, ownServiceAccount } from '../resource/built-in/own-objects.js';
import { deleteSteps } from '../resource/delete-object.js';
import { stringsOf } from '../resource/metadata.js';
import type { CreationGate, ObjectStore } from '../resource/object-store.js';
import { type Resource, resourceOfStored } from '../resource/resource.js';
import type { WriteContext } from '../resource/write-context.js';
import { namespaceTerminating, notFound, Refusal } from '../status/refusal.js';
import type { Steps } from '../steps.js';
import type { Storage, StorageEvent, Stored } from '../storage/storage.js';
import type { ControllerDeletes } from './controller-deletes.js';
import { type Remaining, withConditions } from './namespace-conditions.js';
import type { WorkLoop } from './work-loop.js';

/** Dependencies of {@link NamespaceController}. */
export interface NamespaceControllerParts {
  readonly storage: Storage;
  readonly store: ObjectStore;
  readonly loop: WorkLoop;
  readonly namespaces: Resource;
  readonly serviceAccounts: Resource;
  readonly configMaps: Resource;
  /** One resource for each table of namespaced objects. */
  namespacedResources(): Iterable<Resource>;
  context(): WriteContext;
  /** Deletes an object as a controller's ServiceAccount, subject to admission control. */
  deleting: ControllerDeletes;
  /** The CA certificate of the server, PEM, for the ConfigMap in each namespace. */
  readonly rootCertificate: string;
}

/** The finalizer that keeps a namespace until it is empty. */
const namespaceFinalizer = 'kubernetes';

const accountName = 'default';
const certificateName = 'kube-root-ca.crt';

/** The result of deleting a namespace's objects of some resources. */
interface Deleted {
  readonly remaining: Map<Resource, readonly Stored[]>;
  readonly refusals: readonly string[];
}

/** Creates the default objects of namespaces, and empties terminating ones. */
export class NamespaceController {
  readonly #at: NamespaceControllerParts;

  constructor(parts: NamespaceControllerParts) {
    this.#at = parts;
  }

  /** Observes every write of the storage. */
  observe(table: string, event: StorageEvent): void {
    const { namespaces, serviceAccounts, configMaps } = this.#at;
    const { before, after } = event;
    if (table === namespaces.table) {
      if (after === undefined) return;
      const { name, deletionTimestamp } = after.object.metadata;
      if (deletionTimestamp !== undefined) this.#emptyLater(name);
      else if (before === undefined) this.#fillLater(name);
      return;
    }
    const { namespace, name } = before?.object.metadata ?? {};
    if (namespace === undefined) return;
    if (table === configMaps.table && name === certificateName) this.#fillLater(namespace);
    if (after !== undefined) return;
    if (table === serviceAccounts.table && name === accountName) this.#fillLater(namespace);
    // It may have been the last object of a terminating namespace.
    if (this.#isTerminating(namespace)) this.#emptyLater(namespace);
  }

  #emptyLater(name: string): void {
    this.#at.loop.add(`empty namespace ${name}`, () => this.#empty(name));
  }

  #fillLater(name: string): void {
    this.#at.loop.add(`fill namespace ${name}`, () => this.fill(name));
  }

  /** Creates or restores the default objects of a namespace. */
  fill(namespace: string): void {
    const { store, namespaces, serviceAccounts, configMaps, rootCertificate } = this.#at;
    if (store.find(namespaces, '', namespace) === undefined || this.#isTerminating(namespace)) return;
    if (store.find(serviceAccounts, namespace, accountName) === undefined) {
      store.place(serviceAccounts, namespace, ownServiceAccount(accountName), this.#context());
    }
    const certificate = ownRootCertificate(certificateName, rootCertificate);
    const { data } = certificate.object;
    const published = store.find(configMaps, namespace, certificateName)?.object as JsonObject | undefined;
    if (published === undefined) {
      store.place(configMaps, namespace, certificate, this.#context());
    } else if (!equal(published.data, data)) {
      const right = (live: JsonObject) => ({ ...live, data });
      const change = { subresource: '', make: right };
      store.update(configMaps, namespace, certificateName, change, this.#context());
    }
  }

  /** Deletes the content of a namespace; removes its finalizer when it is empty. */
  *#empty(name: string): Steps<void> {
    const { store, namespaces } = this.#at;
    const stored = store.find(namespaces, '', name);
    if (stored === undefined || !this.#isTerminating(name) || !isKept(stored)) return;
    const resources = [...this.#at.namespacedResources()];
    const isPods = ({ group, plural }: Resource) => group === '' && plural === 'pods';
    // Pods go first, gracefully: the objects that they use stay until they have ended.
    const pods = yield* this.#deleteAll(name, resources.filter(isPods));
    if (pods.remaining.size > 0) {
      this.#writeConditions(name, new Map(), pods.refusals);
      return;
    }
    const others = resources.filter((resource) => !isPods(resource));
    const { remaining, refusals } = yield* this.#deleteAll(name, others);
    this.#writeConditions(name, remaining, refusals);
    if (remaining.size === 0) this.#release(name);
  }

  /** Deletes a namespace's objects of some resources; returns what remains for now. */
  *#deleteAll(namespace: string, resources: readonly Resource[]): Steps<Deleted> {
    const { storage, store } = this.#at;
    const remaining = new Map<Resource, readonly Stored[]>();
    const refusals: string[] = [];
    for (const resource of resources) {
      const { items } = storage.list(resource.table, { prefix: `${namespace}/` });
      let refused: string | undefined;
      for (const item of items) {
        if (item.object.metadata.deletionTimestamp === undefined)
          refused = (yield* this.#delete(resource, item)) ?? refused;
      }
      if (refused !== undefined) refusals.push(refused);
      const left = items.flatMap((item) => store.findByKey(resource, item.key) ?? []);
      if (left.length > 0) remaining.set(resource, left);
    }
    return { remaining, refusals };
  }

  #writeConditions(name: string, remaining: Remaining, refusals: readonly string[]): void {
    if (this.#at.store.find(this.#at.namespaces, '', name) === undefined) return;
    const context = this.#context();
    const make = (live: JsonObject) => withConditions(live, remaining, refusals, context.now);
    const [first] = refusals;
    if (first !== undefined) this.#at.loop.retry(`empty namespace ${name}`, () => this.#empty(name), first);
    this.#at.store.update(this.#at.namespaces, '', name, { subresource: 'status', make }, context);
  }

  /** Why an object cannot be deleted; undefined if it can. */
  *#delete(resource: Resource, { object }: Stored): Steps<string | undefined> {
    const { namespace = '', name } = object.metadata;
    const request = { propagationPolicy: 'Background' };
    const stored = resourceOfStored(resource, object);
    const context = this.#at.deleting('namespace-controller', { resource: stored, namespace, name: '' }, request);
    try {
      yield* deleteSteps(this.#at.store, stored, namespace, name, request, context);
      return undefined;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return this.#at.store.find(stored, namespace, name) === undefined ? undefined : error.message;
    }
  }

  #release(name: string): void {
    const change = { subresource: 'finalize', make: withoutFinalizer, tracked: true };
    this.#at.store.update(this.#at.namespaces, '', name, change, this.#context());
  }

  #context(): WriteContext {
    return { ...this.#at.context(), fieldManager: 'kube-controller-manager' };
  }

  #isTerminating(name: string): boolean {
    return this.#at.store.find(this.#at.namespaces, '', name)?.object.metadata.deletionTimestamp !== undefined;
  }
}

/** Creates nothing in a namespace that is missing or terminating. */
export function namespaceGate(find: (name: string) => Stored | undefined): CreationGate {
  return (resource, namespace, name) => {
    if (resource.scope !== 'Namespaced') return;
    const stored = find(namespace);
    if (stored === undefined) throw notFound({ group: '', plural: 'namespaces', kind: 'Namespace' }, namespace);
    if (stored.object.metadata.deletionTimestamp !== undefined) throw namespaceTerminating(resource, namespace, name);
  };
}

function withoutFinalizer(namespace: JsonObject): JsonObject {
  const spec = isJsonObject(namespace.spec) ? namespace.spec : {};
  const finalizers = stringsOf(spec.finalizers).filter((f) => f !== namespaceFinalizer);
  return { ...namespace, spec: finalizers.length === 0 ? {} : { ...spec, finalizers } };
}

function isKept({ object }: Stored): boolean {
  const { spec } = object as unknown as JsonObject;
  return isJsonObject(spec) && stringsOf(spec.finalizers).includes(namespaceFinalizer);
}
