import { isJsonObject, type JsonObject } from '../json.js';
import { formatTime } from '../time.js';
import { ApplyError } from './apply-error.js';
import { capManagers } from './cap-managers.js';
import { FieldSet } from './fields/field-set.js';
import { fieldElement } from './fields/path-element.js';
import { gvkText } from './gvk-text.js';
import { type KindVersions, type ResetFields, type Typed, VersionConverter } from './kind-versions.js';
import { withoutManagedFields } from './managed-fields-of.js';
import { type ManagedSet, type Managers, managerId } from './managers.js';
import type { MergeType } from './typed/merge-type.js';
import { formatProblems, validateTyped } from './typed/validate-typed.js';
import { Updater, type Writer } from './updater.js';

/** The options that apply and update share. Objects are in the version of the request. */
export interface FieldManagerRequest {
  readonly apiVersion: string;
  readonly kind: string;
  /** How objects of this version merge. */
  readonly type: MergeType;
  /**
   * Other versions that entries of `metadata.managedFields` may be in.
   * @default every version is of the same type and differs in `apiVersion` only
   */
  readonly versions?: KindVersions;
  /** The stored object, with its `metadata.managedFields`; undefined when the write creates it. */
  readonly live: JsonObject | undefined;
  /**
   * An object of this kind in which nothing is set, from which a create starts. Kinds of Go structs have empty structs
   * in it, e.g. `spec: { template: {} }`. @default `apiVersion` and `kind` only
   */
  readonly empty?: JsonObject;
  /** The name of the writer, at most 128 printable characters; empty is `unknown`. */
  readonly manager: string;
  /** The subresource written to, e.g. `status`. @default '' */
  readonly subresource?: string;
  /** The fields that this write does not reach, e.g. `excludeFields(['status'])`. @default none */
  readonly resetFields?: ResetFields;
  /** Milliseconds since the epoch, for the time of the entry. */
  readonly now: number;
}

/** Fields that have no manager: the server's own, and those that identify the object. */
const neverManaged = FieldSet.of(
  ...[
    ['apiVersion'],
    ['kind'],
    ['metadata'],
    ['metadata', 'name'],
    ['metadata', 'namespace'],
    ['metadata', 'creationTimestamp'],
    ['metadata', 'selfLink'],
    ['metadata', 'uid'],
    ['metadata', 'clusterName'],
    ['metadata', 'generation'],
    ['metadata', 'managedFields'],
    ['metadata', 'resourceVersion'],
  ].map((path) => path.map(fieldElement)),
);

/** One write: the layers that upstream chains as managers, from the inside out. */
export class FieldManager {
  readonly live: Typed;
  readonly #request: FieldManagerRequest;
  readonly #updater: Updater;
  readonly #empty: JsonObject;

  constructor(request: FieldManagerRequest) {
    const { apiVersion, kind, type, resetFields } = request;
    this.#request = request;
    this.#empty = request.empty ?? { apiVersion, kind };
    this.live = { object: withoutManagedFields(request.live ?? this.#empty), type };
    const versions = request.versions ?? (() => ({ type }));
    this.#updater = new Updater({ converter: new VersionConverter(versions), resetFields });
  }

  /** Throws an `ApplyError` when an object is not of its type. */
  update(live: Typed, next: JsonObject, managers: Managers, manager: string): Managers {
    const { apiVersion, type } = this.#request;
    check(next, type, 'failed to convert new object', 'smd typed', true);
    check(live.object, type, 'failed to convert live object', 'smd typed', true);
    const { managers: others, fields } = this.#updater.update(live, { object: next, type }, apiVersion, managers);
    const changed = fields.difference(neverManaged);
    const out = new Map(others);
    if (!changed.isEmpty) {
      const writer = this.#writer(manager, false);
      const id = managerId(writer);
      out.set(id, { ...writer, time: this.#now(), fields: changed.union(out.get(id)?.fields ?? FieldSet.empty) });
    }
    return capManagers(out);
  }

  apply(config: JsonObject, present: Managers, force: boolean) {
    const { type, manager, apiVersion, kind } = this.#request;
    let managers = present;
    if (managers.size === 0) {
      const start = { object: this.#empty, type };
      // Existing fields were set before ownership was tracked.
      managers = this.update(start, this.live.object, managers, 'before-first-apply');
    }
    const metadata = config.metadata;
    if (isJsonObject(metadata) && Array.isArray(metadata.managedFields)) {
      throw new ApplyError(400, 'metadata.managedFields must be nil');
    }
    check(config, type, 'failed to create typed patch object', undefined, false);
    check(this.live.object, type, 'failed to create typed live object', undefined, true, { apiVersion, kind });
    const writer = this.#writer(manager, true);
    const result = this.#updater.apply(this.live, { object: config, type }, writer, managers, force);
    if ('conflicts' in result) return result;
    const { object } = result;
    return {
      object: object ?? this.live.object,
      managers: this.#settle(result.managers, managers, managerId(writer), object !== undefined),
    };
  }

  /** Strips unmanaged fields from the writer's entry, and sets its time if the object changed. */
  #settle(managers: Managers, before: Managers, id: string, changed: boolean): Managers {
    const out = new Map<string, ManagedSet>(managers);
    const own = out.get(id);
    if (own === undefined) return out;
    const stripped = own.fields.difference(neverManaged);
    const last = before.get(id)?.fields;
    // An unchanged set need not be written again.
    const fields = last?.equals(stripped) ? last : stripped;
    if (fields.isEmpty) out.delete(id);
    else out.set(id, { ...own, fields, time: changed ? this.#now() : own.time });
    return out;
  }

  #writer(manager: string, applied: boolean): Writer {
    const { apiVersion, subresource = '' } = this.#request;
    return { manager: manager === '' ? 'unknown' : manager, applied, apiVersion, subresource };
  }

  #now(): string {
    return formatTime(this.#request.now);
  }
}

function check(
  object: JsonObject,
  type: MergeType,
  failure: string,
  to: string | undefined,
  allowDuplicates: boolean,
  gvk: { readonly apiVersion: string; readonly kind: string } | JsonObject = object,
): void {
  const problems = validateTyped(object, type, { allowDuplicates });
  if (problems.length === 0) return;
  const { name = '', namespace = '' } = isJsonObject(object.metadata) ? object.metadata : {};
  const which = `${namespace}/${name}; ${gvkText(gvk)}`;
  throw new ApplyError(500, `${failure} (${which})${to === undefined ? '' : ` to ${to}`}: ${formatProblems(problems)}`);
}
