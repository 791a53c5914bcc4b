import { equal, type JsonObject } from 'riata/object';
import type { PrepareContext } from '../kinds/kind-rules.js';
import { atOnce, type Steps } from '../steps.js';
import type { Storage } from '../storage/storage.js';
import { type Candidate, checkObject } from './check-object.js';
import { withConversions } from './custom/stored-conversions.js';
import { withMeta } from './metadata.js';
import type { Resource } from './resource.js';
import type { WriteContext } from './write-context.js';

/**
 * So often a write is checked in slices whose result depends on other objects, of which some are written all the time;
 * then it is checked in one go.
 */
const slicedTries = 3;

/** A write on its way to the storage. */
export interface PreparedWrite {
  readonly resource: Resource;
  /** As it is stored, in the resource's version; undefined for a new object. */
  readonly before: JsonObject | undefined;
  readonly subresource: string;
  readonly context: WriteContext;
}

/** An object after the mutating phase of admission. */
export interface Admitted {
  readonly object: JsonObject;
  /** Makes the account of who wrote what; undefined if the object has it. */
  readonly managedFields: (() => unknown) | undefined;
}

/** What admission control is shown instead of an object, e.g. a Scale, and how the object takes it over. */
export interface ObjectView {
  show(object: JsonObject): JsonObject;
  /** What the mutating phase is shown: as it was sent, with managedFields if somebody needs them. */
  sent(object: JsonObject, tracked: boolean): JsonObject;
  /** What it is shown of the stored object. */
  stored(object: JsonObject, tracked: boolean): JsonObject;
  /** The object with what came out of that phase. Throws a `Refusal` if that cannot be. */
  apply(object: JsonObject, shown: JsonObject): JsonObject;
}

/** An object that was checked. */
interface Checked {
  readonly object: JsonObject;
  /** The revision of the other objects that it depends on; undefined if it depends on none. */
  readonly revision: number | undefined;
}

/** Brings objects through admission, preparation and validation. */
export class ObjectPreparation {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /** The mutating phase of admission. */
  *admit(
    { before, context: { admission } }: PreparedWrite,
    object: JsonObject,
    managedFields: (() => unknown) | undefined,
    view?: ObjectView,
  ): Steps<Admitted> {
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
    return {
      object: yield* admission.admit(operation, shown, before),
      managedFields: tracksNow ? undefined : managedFields,
    };
  }

  /**
   * The object as it is stored: as its kind prepares it, valid, and past the validating phase of admission. `settle`
   * has the last word before that phase.
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
      // Others have written while a plugin has waited: what the object was given in view of them may be taken.
      checked = yield* this.#ready(write, object, candidate);
      const again = settle(checked.object);
      if (equal(settled, again) || tries > slicedTries) return again;
      settled = again;
    }
  }

  /**
   * The object as its kind prepares it, checked. What it was given in view of other objects, such as an address, must
   * still be free when the check is done: else it begins again.
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
