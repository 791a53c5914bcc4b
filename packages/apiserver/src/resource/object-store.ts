import { freeze, type JsonObject, type KubeObject, keepTimes } from 'riata/object';
import type { Random } from 'riata/runtime';
import { required } from '../status/field-error.js';
import { alreadyExists, invalidObject, notFound, Refusal } from '../status/refusal.js';
import { atOnce, type Steps } from '../steps.js';
import type { Storage, Stored } from '../storage/storage.js';
import type { OwnObject } from './built-in/own-objects.js';
import { checkName, checkNamespace } from './check-name.js';
import { readStored, storableOf } from './custom/conversion-steps.js';
import { shownAs } from './custom/in-version.js';
import { withConversions } from './custom/stored-conversions.js';
import { type Expected, expectRevisionOf, expectUid } from './expectations.js';
import { SharedFields } from './fields/shared-fields.js';
import { managedFieldsOf } from './fields/track.js';
import { generateName } from './generate-name.js';
import { metaOf, textOf, withMeta } from './metadata.js';
import { ObjectPreparation, type ObjectView } from './object-preparation.js';
import { hasSubresource, homeOf, type Resource, withDefaults } from './resource.js';
import { answerOf, atRevision, isFinished, isUnchanged, removedAt } from './stored-form.js';
import { keepSystemFields, wipeSystemFields, withGeneration, withoutStatus } from './system-fields.js';
import type { WriteContext } from './write-context.js';

/** Checks whether an object may be created. Throws a `Refusal`. */
export type CreationGate = (resource: Resource, namespace: string, name: string) => void;

/** How to change an object. */
export interface Change {
  /** `''` for the object itself; `status` changes only the status, and so on. */
  readonly subresource: string;
  /** The new object, from the stored one in the resource's version. */
  readonly make: (live: JsonObject) => JsonObject;
  /** Preconditions. @default none */
  readonly expected?: Expected;
  /** Set if `make` has updated managedFields itself, as apply does. */
  readonly tracked?: boolean;
  /** The view of admission control. @default the object */
  readonly view?: ObjectView;
}

/** A default object of the server, and its place. */
export interface SeededObject {
  /** `''` for cluster-scoped objects. */
  readonly namespace: string;
  readonly own: OwnObject;
}

/** The result of a write: the stored object in the resource's version. */
export interface Written {
  readonly object: KubeObject;
  readonly created: boolean;
}

/**
 * Creates, changes and reads objects of any kind (`registry.Store`). Every method is one transaction. Methods that
 * return {@link Steps} yield while they check an object, and start again if the stored object has changed meanwhile
 * (`storage.GuaranteedUpdate`); they do not yield between the last read of the storage and the write.
 */
export class ObjectStore {
  readonly #storage: Storage;
  readonly #random: Random;
  readonly #gate: CreationGate;
  readonly #preparation: ObjectPreparation;
  readonly #fields = new SharedFields();

  constructor(storage: Storage, random: Random, gate: CreationGate) {
    this.#storage = storage;
    this.#random = random;
    this.#gate = gate;
    this.#preparation = new ObjectPreparation(storage);
  }

  /** The object, in the resource's version. Throws 404. */
  get(resource: Resource, namespace: string, name: string): KubeObject {
    const stored = this.#storage.get(resource.table, keyFor(namespace, name));
    if (stored === undefined) throw notFound(resource, name);
    return shownAs(stored.object, resource);
  }

  /** Like {@link get}, for objects that a webhook may have to convert. */
  *getSteps(resource: Resource, namespace: string, name: string): Steps<KubeObject> {
    const stored = this.find(resource, namespace, name);
    if (stored === undefined) throw notFound(resource, name);
    return yield* readStored(stored, resource);
  }

  find(resource: Resource, namespace: string, name: string): Stored | undefined {
    return this.#storage.get(resource.table, keyFor(namespace, name));
  }

  findByKey(resource: Resource, key: string): Stored | undefined {
    return this.#storage.get(resource.table, key);
  }

  create(resource: Resource, namespace: string, body: JsonObject, context: WriteContext): KubeObject {
    return atOnce(this.createSteps(resource, namespace, body, context));
  }

  /** Creates an object. Throws 409 if it exists. */
  *createSteps(
    resource: Resource,
    namespace: string,
    body: JsonObject,
    context: WriteContext,
    tracked = false,
  ): Steps<KubeObject> {
    const placed = withDefaults(resource, inNamespace(resource, namespace, body));
    const wiped = wipeSystemFields(placed);
    const account = tracked ? undefined : () => managedFieldsOf(resource, undefined, wiped, context, '');
    const write = { resource, before: undefined, subresource: '', context };
    const { object: sent, managedFields } = yield* this.#preparation.admit(write, wiped, account);
    const admitted = sent === wiped ? wiped : inNamespace(resource, namespace, sent);
    context.guard?.({ resource, namespace, object: admitted, before: undefined });
    const named = this.#named(resource, admitted);
    const name = textOf(metaOf(named).name);
    const { generation } = metaOf(admitted);
    // A webhook may have set it after it was removed; an apply forgets that.
    const { resourceVersion: sentVersion } = { ...metaOf(placed), ...(tracked ? {} : metaOf(admitted)) };
    const fresh = withMeta(named, {
      uid: this.#random.uuid(),
      creationTimestamp: context.now,
      generation: resource.rules.countsGenerations ? 1 : generation,
    });
    const losesStatus = hasSubresource(resource, 'status') && resource.rules.takesStatusOnCreate !== true;
    const bare = losesStatus ? withoutStatus(fresh, resource.schema.emptyStatus) : fresh;
    const candidate = (object: JsonObject) => ({ object, before: undefined, name, subresource: '', managedFields });
    const object = yield* this.#preparation.finish(write, bare, candidate, (valid) => {
      this.#warn(resource, valid, undefined, '', context);
      context.confirmCreate?.();
      return valid;
    });
    const storable = yield* storableOf(object, resource);
    this.#gate(resource, namespace, name);
    if (Number(sentVersion) > 0 && !context.dryRun) {
      throw new Refusal(500, '', 'resourceVersion should not be set on objects to be created');
    }
    const other = this.find(resource, namespace, name);
    if (other !== undefined) throw alreadyExists(resource, name, other.object.metadata.deletionTimestamp !== undefined);
    // An unstored object is returned with the revision that it came with.
    if (context.dryRun) {
      return answerOf(
        yield* this.#unstored(object, storable, resource),
        resource,
        Number(sentVersion ?? 0) || undefined,
      );
    }
    context.admission?.commit?.('CREATE', object, undefined);
    const key = keyFor(namespace, name);
    const stored = this.#storage.put(resource.table, key, (revision) =>
      atRevision(storable, resource, revision, this.#fields),
    );
    return yield* readStored(stored, resource);
  }

  /** The result of a dry run, as it would be read from the storage. */
  *#unstored(object: JsonObject, storable: JsonObject, resource: Resource): Steps<JsonObject> {
    if (storable === object) return object;
    return (yield* readStored({ object: storable as unknown as KubeObject }, resource)) as unknown as JsonObject;
  }

  /** Stores a default object that is complete but for its identity; `create` would have the same result. */
  place(resource: Resource, namespace: string, own: OwnObject, context: WriteContext): void {
    const key = keyFor(namespace, textOf(metaOf(own.object).name));
    this.#storage.put(resource.table, key, this.#whole(resource, namespace, own, context));
  }

  /** Like {@link place}, for a resource without objects: they may be created on first use. */
  seed(resource: Resource, all: readonly SeededObject[], context: WriteContext): void {
    const storage = this.#storage;
    if (storage.seed === undefined) {
      for (const { namespace, own } of all) this.place(resource, namespace, own, context);
      return;
    }
    const make = (first: number) =>
      all.map(({ namespace, own }, index) => {
        const object = this.#whole(resource, namespace, own, context)(first + index);
        return [keyFor(namespace, object.metadata.name), object] as const;
      });
    storage.seed(resource.table, { count: all.length, make });
  }

  /** Completes a default object for its revision; common parts are shared and frozen. */
  #whole(
    resource: Resource,
    namespace: string,
    own: OwnObject,
    { fieldManager, now: time }: WriteContext,
  ): (revision: number) => KubeObject {
    const { apiVersion, kind } = resource;
    const { object, fieldsV1, applied, status, manager = fieldManager } = own;
    const fields = { apiVersion, time, fieldsType: 'FieldsV1' };
    const entries = [
      ...(applied === undefined ? [] : [{ ...applied, operation: 'Apply', ...fields }]),
      ...(status === undefined ? [] : [{ ...status, operation: 'Apply', ...fields, subresource: 'status' }]),
      ...(fieldsV1 === undefined ? [] : [{ manager, operation: 'Update', ...fields, fieldsV1 }]),
    ];
    const metadata = {
      ...metaOf(object),
      ...(namespace === '' ? {} : { namespace }),
      uid: this.#random.uuid(),
      creationTimestamp: time,
      ...(entries.length === 0 ? {} : { managedFields: entries }),
    };
    // One object literal, since a new server places dozens.
    return (revision) =>
      freeze({
        kind,
        apiVersion,
        ...object,
        metadata: { ...metadata, resourceVersion: String(revision) },
      } as unknown as KubeObject);
  }

  /** Changes an object. Stores nothing if it is unchanged. Throws 404 if it does not exist. */
  update(resource: Resource, namespace: string, name: string, change: Change, context: WriteContext): Written {
    return atOnce(this.updateSteps(resource, namespace, name, change, context));
  }

  /** Like {@link update}. Calls `make` again if the stored object has changed meanwhile. */
  *updateSteps(
    resource: Resource,
    namespace: string,
    name: string,
    change: Change,
    context: WriteContext,
  ): Steps<Written> {
    for (;;) {
      const stored = this.find(resource, namespace, name);
      if (stored === undefined) throw notFound(resource, name);
      const object = yield* this.#changed(resource, namespace, name, stored, change, context);
      const storable = yield* storableOf(object, resource);
      if (this.find(resource, namespace, name)?.revision !== stored.revision) continue;
      return yield* this.#store(resource, stored, object, storable, context);
    }
  }

  /** Applies a change to a stored object and validates the result. */
  *#changed(
    resource: Resource,
    namespace: string,
    name: string,
    stored: Stored,
    { subresource, make, expected, tracked, view }: Change,
    context: WriteContext,
  ): Steps<JsonObject> {
    const live = (yield* readStored(stored, resource)) as unknown as JsonObject;
    expectUid(resource, stored, expected);
    const sentObject = yield* withConversions(() => make(live));
    const made = withDefaults(resource, inNamespace(resource, namespace, sentObject));
    checkName(textOf(metaOf(made).name), name);
    const sent = keepSystemFields(resource, live, made, subresource);
    const account = tracked ? undefined : () => managedFieldsOf(resource, live, sent, context, subresource);
    const write = { resource, before: live, subresource, context };
    const { object: admitted, managedFields } = yield* this.#preparation.admit(write, made, account, view);
    expectRevisionOf(resource, stored, expected, admitted);
    context.guard?.({ resource, namespace, object: admitted, before: live });
    const kept =
      admitted === made
        ? sent
        : keepSystemFields(resource, live, inNamespace(resource, namespace, admitted), subresource);
    const candidate = (prepared: JsonObject) => ({
      object: withGeneration(resource, live, prepared, subresource),
      ...{ before: live, name: textOf(metaOf(prepared).name), subresource, managedFields },
    });
    const settle = (valid: JsonObject) => {
      const object = keepTimes(live, valid);
      this.#warn(resource, object, live, subresource, context);
      return object;
    };
    return yield* this.#preparation.finish(write, kept, candidate, settle, view);
  }

  *#store(
    resource: Resource,
    stored: Stored,
    object: JsonObject,
    storable: JsonObject,
    context: WriteContext,
  ): Steps<Written> {
    const gone = textOf(metaOf(object).deletionTimestamp) !== '' && isFinished(object);
    const { key, revision } = stored;
    if (context.dryRun) {
      return {
        object: answerOf(yield* this.#unstored(object, storable, resource), resource, revision),
        created: false,
      };
    }
    if (gone) {
      this.#storage.remove(resource.table, key, (revision) => removedAt(stored.object, revision));
      this.#removeAlso(resource, key);
      // Watches show the last stored state at the revision of the removal; the caller gets its own result.
      return { object: answerOf(object, resource, revision), created: false };
    }
    const live = shownAs(stored.object, resource);
    if (isUnchanged(resource, stored, live as unknown as JsonObject, storable)) return { object: live, created: false };
    context.admission?.commit?.('UPDATE', object, live as unknown as JsonObject);
    const written = this.#storage.put(resource.table, key, (at) => atRevision(storable, resource, at, this.#fields));
    return { object: yield* readStored(written, resource), created: false };
  }

  /** Stores an object without checks, for the server's own changes of timestamps, finalizers and conditions. */
  replace(resource: Resource, stored: Stored, object: JsonObject): void {
    atOnce(this.replaceSteps(resource, stored, object, { dryRun: false }));
  }

  /** Like {@link replace}; returns the stored object, or undefined if it has changed meanwhile and nothing was done. */
  *replaceSteps(
    resource: Resource,
    stored: Stored,
    object: JsonObject,
    { dryRun }: Pick<WriteContext, 'dryRun'>,
  ): Steps<KubeObject | undefined> {
    const storable = yield* storableOf(object, resource);
    if (this.findByKey(resource, stored.key)?.revision !== stored.revision) return undefined;
    if (dryRun) return answerOf(yield* this.#unstored(object, storable, resource), resource, stored.revision);
    if (isUnchanged(resource, stored, stored.object as unknown as JsonObject, storable)) {
      return yield* readStored(stored, resource);
    }
    const put = (revision: number) => atRevision(storable, resource, revision, this.#fields);
    return yield* readStored(this.#storage.put(resource.table, stored.key, put), resource);
  }

  /** Removes an object and returns its last stored state. */
  remove(resource: Resource, stored: Stored): KubeObject {
    const removed = this.#storage.remove(resource.table, stored.key, (revision) => removedAt(stored.object, revision));
    this.#removeAlso(resource, stored.key);
    return removed.object;
  }

  #removeAlso({ rules }: Resource, key: string): void {
    for (const table of rules.removesAlso ?? []) {
      const other = this.#storage.get(table, key)?.object;
      if (other === undefined) continue;
      this.#storage.remove(table, key, (revision) => removedAt(other, revision));
    }
  }

  #named(resource: Resource, object: JsonObject): JsonObject {
    const meta = metaOf(object);
    if (textOf(meta.name) !== '') return object;
    const base = textOf(meta.generateName);
    if (base === '') {
      throw invalidObject(homeOf(resource), '', [required('metadata.name', 'name or generateName is required')]);
    }
    return withMeta(object, { name: generateName(base, this.#random) });
  }

  #warn(
    resource: Resource,
    object: JsonObject,
    before: JsonObject | undefined,
    subresource: string,
    context: WriteContext,
  ): void {
    for (const warning of resource.schema.warnings?.(object, before) ?? []) context.warn(warning);
    if (subresource === 'status')
      for (const warning of resource.rules.statusWarnings?.(object) ?? []) context.warn(warning);
    if (subresource !== '') return;
    for (const warning of resource.rules.warnings?.(object, before) ?? []) context.warn(warning);
  }
}

export function keyFor(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** The object with the namespace of the request; refuses a different one. */
function inNamespace(resource: Resource, namespace: string, body: JsonObject): JsonObject {
  const sent = textOf(metaOf(body).namespace);
  if (resource.scope === 'Cluster') return sent === '' ? body : withMeta(body, { namespace: undefined });
  checkNamespace(namespace, sent);
  return withMeta(body, { namespace });
}
