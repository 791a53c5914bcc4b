import type { JsonObject, KubeObject } from 'riata/object';
import { metaOf, textOf } from '../../resource/metadata.js';
import { forbiddenWrite, type Refusal } from '../../status/refusal.js';
import type { Steps } from '../../steps.js';
import type { Storage, StorageEvent } from '../../storage/storage.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.js';

/** An admission plugin that never waits. */
export interface SynchronousPlugin {
  readonly name: string;
  /** Whether the plugin handles a request; called before each phase. */
  handles(attributes: AdmissionAttributes): boolean;
  /** The mutating phase: returns the changed object, or the same reference. Throws a `Refusal`. */
  change?(object: JsonObject, attributes: AdmissionAttributes): JsonObject;
  /** The validating phase. Throws a `Refusal`. */
  check?(object: JsonObject, attributes: AdmissionAttributes): void;
  /** Called right before the object is stored, in the same turn. Throws a `Refusal`. */
  commit?(object: JsonObject, attributes: AdmissionAttributes): void;
  /** Observes every write, synchronously. */
  observe?(table: string, event: StorageEvent): void;
}

const nothing: JsonObject = {};

/** Adapts the plugin to the chain. */
export function synchronousPlugin(plugin: SynchronousPlugin): AdmissionPlugin {
  const { name, change, check, commit, observe } = plugin;
  return {
    name,
    handles: (attributes) => plugin.handles(attributes),
    ...(change && { admit: (attributes) => done(change(attributes.object ?? nothing, attributes)) }),
    ...(check && { validate: (attributes) => done(check(attributes.object ?? nothing, attributes)) }),
    ...(commit && { commit: (attributes) => commit(attributes.object ?? nothing, attributes) }),
    ...(observe && { observe }),
  };
}

// biome-ignore lint/correctness/useYield: nothing to wait for.
function* done<T>(result: T): Steps<T> {
  return result;
}

/** The answer to a request that a plugin refuses (`admission.NewForbidden`). */
export function forbiddenRequest({ resource, name, object }: AdmissionAttributes, why: string): Refusal {
  const meta = metaOf(object ?? nothing);
  // An object whose name is yet to be generated is named by its prefix.
  return forbiddenWrite(resource, name || textOf(meta.name) || textOf(meta.generateName) || 'Unknown', why);
}

/** The objects of a table, in one namespace or in all. */
export function objectsOf(storage: Storage, table: string, namespace = ''): readonly KubeObject[] {
  if (storage.count(table) === 0) return [];
  const range = namespace === '' ? {} : { prefix: `${namespace}/` };
  return storage.list(table, range).items.map(({ object }) => object);
}

/** One object of a table, as JSON. */
export function findObject(storage: Storage, table: string, key: string): JsonObject | undefined {
  return storage.get(table, key)?.object as unknown as JsonObject | undefined;
}

/** Whether a request creates an object, not a subresource. */
export function creates({ operation, subresource, resource }: AdmissionAttributes, table: string): boolean {
  return operation === 'CREATE' && subresource === '' && resource.table === table;
}
