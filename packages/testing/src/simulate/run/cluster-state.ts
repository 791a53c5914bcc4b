import type { Storage, StorageEvent } from '@riata/apiserver';
import { type Condition, formatKey, type KindRef, type KubeObject, type ObjectKey } from 'riata/object';

/** Objects of these kinds come and go with any run, and say nothing about the state. */
const passing: ReadonlySet<string> = new Set(['Event', 'Lease']);

/** A change of one object, as the API server stored it. */
export interface ClusterChange {
  readonly revision: number;
  /** Undefined if it was created. */
  readonly before: KubeObject | undefined;
  /** Undefined if it was removed. */
  readonly after: KubeObject | undefined;
}

/** The objects of the cluster at one moment of a simulated run. */
export interface ClusterView {
  /** Undefined if there is none. */
  get<R extends KubeObject>(kind: KindRef<R>, key: ObjectKey): R | undefined;
  list<R extends KubeObject>(kind: KindRef<R>, options?: { readonly namespace?: string }): readonly R[];
  /** All objects that were created or changed in this run and still exist, Events and Leases aside. */
  readonly changed: readonly KubeObject[];
}

/** What a run has changed in the cluster, and what was there before. */
export class ClusterState implements ClusterView {
  readonly #storage: Storage;
  /** By resource and key; undefined: removed. */
  readonly #changed = new Map<string, KubeObject | undefined>();
  /** Resources by kind, as far as objects were seen. */
  readonly #resources = new Map<string, string>();
  /** Each object as it was first seen, by uid. */
  readonly #origins = new Map<string, KubeObject>();
  readonly #createdIds = new Set<string>();
  readonly #createdUids = new Set<string>();
  /** Every condition that any object had, as `Site Ready=True=Reconciled`. */
  readonly conditions = new Set<string>();
  /** Every uid that was ever seen in this run, with the name of its object. */
  readonly uids = new Map<string, string>();

  constructor(storage: Storage, resources: ReadonlyMap<string, string>, onChange: (change: ClusterChange) => void) {
    this.#storage = storage;
    for (const [kind, resource] of resources) this.#resources.set(kind, resource);
    storage.observe((resource, event) => {
      this.#take(resource, event);
      const { revision, before, after } = event;
      onChange({ revision, before: before?.object, after: after?.object });
    });
  }

  get changed(): readonly KubeObject[] {
    const objects = [...this.#changed.values()].filter((object): object is KubeObject => object !== undefined);
    return objects.filter(({ kind }) => !passing.has(kind));
  }

  /** Whether the object with this uid was created in this run. */
  wasCreated(uid: string): boolean {
    return this.#createdUids.has(uid);
  }

  /** The object with this uid as it was before this run, or as it was created. */
  originOf(uid: string): KubeObject | undefined {
    return this.#origins.get(uid);
  }

  /** Names of all objects that were created in this run. */
  get createdIds(): ReadonlySet<string> {
    return this.#createdIds;
  }

  get<R extends KubeObject>(kind: KindRef<R>, key: ObjectKey): R | undefined {
    const resource = this.#resources.get(`${kind.group}/${kind.kind}`);
    return resource === undefined ? undefined : (this.#storage.get(resource, formatKey(key))?.object as R | undefined);
  }

  list<R extends KubeObject>(kind: KindRef<R>, { namespace }: { readonly namespace?: string } = {}): readonly R[] {
    const resource = this.#resources.get(`${kind.group}/${kind.kind}`);
    if (resource === undefined) return [];
    const range = namespace === undefined ? {} : { prefix: `${namespace}/` };
    return this.#storage.list(resource, range).items.map(({ object }) => object as R);
  }

  #noteConditions(object: KubeObject | undefined): void {
    const { conditions } =
      (object as { readonly status?: { readonly conditions?: unknown } } | undefined)?.status ?? {};
    if (object === undefined || !Array.isArray(conditions)) return;
    for (const { type, status, reason = '' } of conditions as readonly Partial<Condition>[]) {
      this.conditions.add(`${object.kind} ${type}=${status}=${reason}`);
    }
  }

  #take(resource: string, { key, before, after }: StorageEvent): void {
    this.#changed.set(`${resource} ${key}`, after?.object);
    this.#noteConditions(after?.object);
    const object = after?.object ?? before?.object;
    if (object === undefined) return;
    this.#resources.set(`${groupOf(object)}/${object.kind}`, resource);
    const { uid } = object.metadata;
    if (uid !== undefined && !this.#origins.has(uid)) {
      this.uids.set(uid, idOf(object));
      this.#origins.set(uid, before?.object ?? object);
    }
    if (before !== undefined || passing.has(object.kind)) return;
    this.#createdIds.add(idOf(object));
    this.#createdUids.add(object.metadata.uid ?? '');
  }
}

/** `ConfigMap default/blog`, as requests are described. */
export function idOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${formatKey({ namespace: metadata.namespace, name: metadata.name ?? '' })}`;
}

function groupOf({ apiVersion }: KubeObject): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
}
