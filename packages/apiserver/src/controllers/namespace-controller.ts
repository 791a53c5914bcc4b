import { isJsonObject, type JsonObject } from 'riata/object';
import { deleteObject } from '../resource/delete-object.js';
import { metaOf, stringsOf, textOf } from '../resource/metadata.js';
import type { NamespaceGate, ObjectStore } from '../resource/object-store.js';
import type { Resource } from '../resource/resource.js';
import type { WriteContext } from '../resource/write-context.js';
import { forbiddenWrite, notFound } from '../status/refusal.js';
import type { Storage, StorageEvent, Stored } from '../storage/storage.js';
import type { WorkLoop } from './work-loop.js';

/** What the namespace controller has to see of the server. */
export interface NamespaceSurroundings {
  readonly storage: Storage;
  readonly store: ObjectStore;
  readonly loop: WorkLoop;
  readonly namespaces: Resource;
  readonly serviceAccounts: Resource;
  readonly configMaps: Resource;
  /** One resource for each table that holds namespaced objects. */
  namespacedResources(): Iterable<Resource>;
  context(): WriteContext;
  /** The certificate that Pods would trust the server by, PEM. */
  readonly rootCertificate: string;
}

/** What keeps a namespace while there is something in it. */
export const namespaceFinalizer = 'kubernetes';

/** Gives new namespaces what they all have, and empties those that are to go. */
export class NamespaceController {
  readonly #at: NamespaceSurroundings;

  constructor(surroundings: NamespaceSurroundings) {
    this.#at = surroundings;
  }

  /** To be told of every write. */
  observe(table: string, event: StorageEvent): void {
    if (table === this.#at.namespaces.table) {
      const { before, after } = event;
      if (after === undefined) return;
      const { name, deletionTimestamp } = after.object.metadata;
      if (deletionTimestamp !== undefined) this.#emptyLater(name);
      else if (before === undefined) this.#at.loop.add(`fill namespace ${name}`, () => this.#fill(name));
      return;
    }
    // Something left a namespace: it may have been the last.
    const { namespace } = event.before?.object.metadata ?? {};
    if (event.after === undefined && namespace !== undefined && this.#isTerminating(namespace)) {
      this.#emptyLater(namespace);
    }
  }

  #emptyLater(name: string): void {
    this.#at.loop.add(`empty namespace ${name}`, () => this.#empty(name));
  }

  #fill(namespace: string): void {
    const { store, serviceAccounts, configMaps, rootCertificate } = this.#at;
    this.#make(serviceAccounts, namespace, { metadata: { name: 'default' } });
    const metadata = { name: 'kube-root-ca.crt' };
    if (store.find(configMaps, namespace, metadata.name) === undefined) {
      this.#make(configMaps, namespace, { metadata, data: { 'ca.crt': rootCertificate } });
    }
  }

  #make(resource: Resource, namespace: string, object: JsonObject): void {
    const { store, namespaces } = this.#at;
    const { name } = metaOf(object);
    if (store.find(namespaces, '', namespace) === undefined || this.#isTerminating(namespace)) return;
    if (store.find(resource, namespace, textOf(name)) !== undefined) return;
    const whole = { apiVersion: resource.apiVersion, kind: resource.kind, ...object };
    store.create(resource, namespace, whole, this.#at.context());
  }

  /** Deletes what is in a namespace; when nothing is left, lets the namespace go. */
  #empty(name: string): void {
    const { storage, store, namespaces } = this.#at;
    const stored = store.find(namespaces, '', name);
    if (stored === undefined || !this.#isTerminating(name)) return;
    let left = 0;
    for (const resource of this.#at.namespacedResources()) {
      const { items } = storage.list(resource.table, { prefix: `${name}/` });
      for (const item of items) {
        if (item.object.metadata.deletionTimestamp === undefined) this.#delete(resource, item);
        if (store.findByKey(resource, item.key) !== undefined) left++;
      }
    }
    if (left === 0) this.#release(stored);
  }

  #delete(resource: Resource, { object }: Stored): void {
    const { namespace = '', name } = object.metadata;
    const request = { gracePeriodSeconds: 0, propagationPolicy: 'Background' };
    deleteObject(this.#at.store, resource, namespace, name, request, this.#at.context());
  }

  #release(stored: Stored): void {
    const { store, namespaces, context } = { ...this.#at, context: this.#at.context() };
    const { name } = stored.object.metadata;
    store.update(
      namespaces,
      '',
      name,
      { subresource: 'finalize', make: (live) => withoutFinalizer(live), tracked: true },
      context,
    );
  }

  #isTerminating(name: string): boolean {
    return this.#at.store.find(this.#at.namespaces, '', name)?.object.metadata.deletionTimestamp !== undefined;
  }
}

/** Nothing is made in a namespace that is not there or is about to go. */
export function namespaceGate(find: (name: string) => Stored | undefined): NamespaceGate {
  return (resource, namespace, name) => {
    if (resource.scope !== 'Namespaced') return;
    const stored = find(namespace);
    if (stored === undefined) throw notFound({ group: '', plural: 'namespaces', kind: 'Namespace' }, namespace);
    if (stored.object.metadata.deletionTimestamp === undefined) return;
    const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
    const message = `namespace ${namespace} is being terminated`;
    const causes = [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }];
    throw forbiddenWrite(resource, name, why, causes);
  };
}

function withoutFinalizer(namespace: JsonObject): JsonObject {
  const spec = isJsonObject(namespace.spec) ? namespace.spec : {};
  const finalizers = stringsOf(spec.finalizers).filter((f) => f !== namespaceFinalizer);
  return { ...namespace, spec: finalizers.length === 0 ? {} : { ...spec, finalizers } };
}
