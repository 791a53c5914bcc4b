import { equal, type JsonObject } from 'riata/object';
import type { PrepareContext } from '../kinds/kind-rules.js';
import { atOnce, type Steps } from '../steps.js';
import type { Storage } from '../storage/storage.js';
import { type Candidate, checkObject } from './check-object.js';
import { withConversions } from './custom/stored-conversions.js';
import { withValidManagers } from './fields/with-valid-managers.js';
import { withMeta } from './metadata.js';
import type { Resource } from './resource.js';
import type { WriteContext } from './write-context.js';

/**
 * How often to check a write in slices if its result depends on other objects that change meanwhile. The attempt after
 * that runs in one turn.
 */
const slicedTries = 3;

/** A write that is being prepared. */
export interface PreparedWrite {
  readonly resource: Resource;
  /** The stored object in the resource's version; undefined for a new one. */
  readonly before: JsonObject | undefined;
  readonly subresource: string;
  readonly context: WriteContext;
}

/** An object after the mutating phase of admission. */
export interface Admitted {
  readonly object: JsonObject;
  /** Computes managedFields; undefined if the object already has them. */
  readonly managedFields: (() => unknown) | undefined;
}

/** Maps between an object and what admission control sees instead of it, e.g. a Scale. */
export interface ObjectView {
  show(object: JsonObject): JsonObject;
  /** The input of the mutating phase: as sent, with managedFields if a plugin needs them. */
  sent(object: JsonObject, tracked: boolean): JsonObject;
  /** The stored object, as admission control sees it. */
  stored(object: JsonObject, tracked: boolean): JsonObject;
  /** The object with the result of the mutating phase. Throws a `Refusal` if it cannot be applied. */
  apply(object: JsonObject, shown: JsonObject): JsonObject;
}

/** A validated object. */
interface Checked {
  readonly object: JsonObject;
  /** The revision of the other objects that it depends on; undefined if it depends on none. */
  readonly revision: number | undefined;
}

/** Takes objects through admission, preparation and validation. */
export class ObjectPreparation {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** The mutating phase of admission. */
  *admit(
    { before, context }: PreparedWrite,
    object: JsonObject,
    managedFields: (() => unknown) | undefined,
    view?: ObjectView,
  ): Steps<Admitted> {
    const { admission } = context;
    if (admission === undefined) {
      return { object: view === undefined ? object : view.apply(object, view.sent(object, false)), managedFields };
    }
    const operation = before === undefined ? 'CREATE' : 'UPDATE';
    if (view !== undefined) {
      const tracked = admission.needsManagedFields(operation, object, before);
      const shown = view.sent(object, tracked);
      const admitted = yield* admission.admit(operation, shown, before && view.stored(before, tracked));
      return { object: view.apply(object, admitted), managedFields };
    }
    const tracksNow = managedFields !== undefined && admission.needsManagedFields(operation, object, before);
    const shown = tracksNow ? withMeta(object, { managedFields: yield* withConversions(managedFields) }) : object;
    const admitted = yield* admission.admit(operation, shown, before);
    return {
      object: admitted === shown ? shown : withValidManagers(admitted, shown, context.warn),
      managedFields: tracksNow ? undefined : managedFields,
    };
  }

  /**
   * The object to store: prepared by its kind, validated, and admitted by the validating phase. `settle` makes the last
   * changes before that phase.
   */
  *finish(
    write: PreparedWrite,
    object: JsonObject,
    candidate: (prepared: JsonObject) => Candidate,
    settle: (checked: JsonObject) => JsonObject,
    view?: ObjectView,
  ): Steps<JsonObject> {
    const { admission } = write.context;
    let checked = yield* this.#ready(write, object, candidate);
    let settled = settle(checked.object);
    if (admission === undefined) return settled;
    const { before } = write;
    const operation = before === undefined ? 'CREATE' : 'UPDATE';
    for (let tries = 1; ; tries++) {
      const shown = view === undefined ? settled : view.show(settled);
      yield* admission.validate(operation, shown, view === undefined ? before : before && view.show(before));
      if (checked.revision === undefined || checked.revision === this.#storage.revision) return settled;
      // Other writes happened while a plugin waited: an allocation, such as an address, may be taken by now.
      checked = yield* this.#ready(write, object, candidate);
      const again = settle(checked.object);
      if (equal(settled, again) || tries > slicedTries) return again;
      settled = again;
    }
  }

  /**
   * Prepares and validates the object. An allocation that depends on other objects, such as an address, must still be
   * free at the end of the check, else it starts again.
   */
  *#ready(write: PreparedWrite, object: JsonObject, candidate: (prepared: JsonObject) => Candidate): Steps<Checked> {
    const { resource, before } = write;
    for (let tries = 1; ; tries++) {
      const seen = { others: false };
      const { revision } = this.#storage;
      const prepared = resource.rules.prepare?.(object, before, this.#preparing(write, seen)) ?? object;
      const check = checkObject(resource, candidate(prepared));
      const checked = tries > slicedTries ? atOnce(check) : yield* check;
      if (!seen.others) return { object: checked, revision: undefined };
      if (this.#storage.revision === revision) return { object: checked, revision };
    }
  }

  #preparing({ subresource, context }: PreparedWrite, seen: { others: boolean }): PrepareContext {
    const { now, dryRun, user, warn } = context;
    const objects = (table: string, namespace = '') => {
      seen.others = true;
      const range = namespace === '' ? {} : { prefix: `${namespace}/` };
      return this.#storage.list(table, range).items.map(({ object }) => object);
    };
    return { now, dryRun, user, subresource, warn, objects };
  }
}
