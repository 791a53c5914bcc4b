import { formatGvk, parseApiVersion } from '../gvk.js';
import { isJsonObject, type JsonObject } from '../json.js';
import type { ManagedFieldsEntry } from '../meta.js';
import { formatTime } from '../time.js';
import { ApplyError } from './apply-error.js';
import { capManagers } from './cap-managers.js';
import type { Conflict } from './conflicts.js';
import { FieldSet } from './field-set.js';
import { fieldsLastApplied, kubectlManager, updateLastApplied } from './last-applied.js';
import {
  decodeManagers,
  encodeManagers,
  ManagedFieldsError,
  type ManagedSet,
  type Managers,
  managerId,
} from './managers.js';
import type { MergeType } from './merge-type.js';
import { fieldElement } from './path-element.js';
import { Updater, type Writer } from './updater.js';
import { formatProblems, validateTyped } from './validate-typed.js';
import { type KindVersions, type ResetFields, type Typed, VersionConverter } from './versions.js';

/** What apply and update have in common. Objects are in the version of the request. */
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
   * An object of this kind in which nothing is set: what a create starts from. Kinds of Go structs have empty structs
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

export interface ApplyRequest extends FieldManagerRequest {
  /** What is applied. */
  readonly config: JsonObject;
  /** Take fields from whoever manages them. @default false */
  readonly force?: boolean;
}

export type ApplyResult =
  | {
      /** The merged object without `metadata.managedFields`: neither defaulted nor validated any further. */
      readonly object: JsonObject;
      /** What belongs into `metadata.managedFields`; undefined for none. */
      readonly managedFields: readonly ManagedFieldsEntry[] | undefined;
      readonly conflicts?: undefined;
    }
  | { readonly conflicts: readonly Conflict[]; readonly object?: undefined; readonly managedFields?: undefined };

/**
 * Server-side apply (`FieldManager.Apply`): merges a configuration into the live object, takes away what the manager no
 * longer applies and nobody else manages, and keeps account of who manages what. Conflicts are returned
 * (`conflictStatus` makes the answer of them); throws an `ApplyError` when the configuration is not one.
 */
export function applyServerSide(request: ApplyRequest): ApplyResult {
  const { config, apiVersion, kind, manager, force = false } = request;
  if (config.apiVersion !== apiVersion || config.kind !== kind) {
    throw new ApplyError(400, `invalid object type: ${gvkText(config)}`);
  }
  const run = new FieldManagerRun(request);
  const managers = readManagers(request.live);
  let result = run.apply(config, managers, force);
  if ('conflicts' in result && manager === kubectlManager) {
    const allowed = fieldsLastApplied(run.live, apiVersion);
    if (allowed !== undefined) {
      const conflicts = result.conflicts.filter(({ path }) => !allowed.has(path));
      result = conflicts.length > 0 ? { conflicts } : run.apply(config, managers, true);
    }
  }
  if ('conflicts' in result) return result;
  const object = manager === kubectlManager ? updateLastApplied(result.object, config) : result.object;
  return { object, managedFields: encodeManagers(result.managers) };
}

export interface UpdateRequest extends FieldManagerRequest {
  /** The object about to be stored: patched, defaulted, with the `metadata.managedFields` that the request sent. */
  readonly object: JsonObject;
}

/**
 * Who manages what after a create, update or patch (`FieldManager.UpdateNoErrors`): undefined for nobody, which is also
 * the answer when the objects are not of their type. Entries sent with the object replace the live ones unless they
 * cannot be read or the write goes to a subresource; an empty list, or a list of one empty entry, resets them.
 */
export function trackUpdate(request: UpdateRequest): readonly ManagedFieldsEntry[] | undefined {
  const managers = managersForUpdate(request);
  // Nobody applied to it, and its past is not known: it stays that way until the first apply.
  if (managers.size === 0 && uidOf(request.live) !== '') return undefined;
  try {
    const run = new FieldManagerRun(request);
    return encodeManagers(run.update(run.live, withoutManagedFields(request.object), managers, request.manager));
  } catch (error) {
    if (error instanceof ApplyError) return undefined;
    throw error;
  }
}

/** Fields that nobody manages: the server's own, and those that identify the object. */
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
class FieldManagerRun {
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
      // Whoever set what is there already did so before anyone kept account.
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
      managers: this.#settle(result.managers, managerId(writer), object !== undefined),
    };
  }

  /** Strips what nobody manages from the writer's entry, and dates it if the object changed. */
  #settle(managers: Managers, id: string, changed: boolean): Managers {
    const out = new Map<string, ManagedSet>(managers);
    const own = out.get(id);
    if (own === undefined) return out;
    const fields = own.fields.difference(neverManaged);
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

function readManagers(live: JsonObject | undefined): Managers {
  try {
    return decodeManagers(entriesOf(live));
  } catch (cause) {
    if (!(cause instanceof ManagedFieldsError)) throw cause;
    throw new ApplyError(500, `failed to decode managed fields: ${cause.message}`, { cause });
  }
}

function managersForUpdate({ live, object, subresource = '' }: UpdateRequest): Managers {
  const sent = entriesOf(object);
  if (subresource === '') {
    if (sent !== undefined && isReset(sent)) return new Map();
    const managers = decodeOrEmpty(sent);
    // Clients that know nothing of managedFields must not lose them.
    if (managers.size > 0) return managers;
  }
  return decodeOrEmpty(entriesOf(live));
}

function decodeOrEmpty(entries: readonly ManagedFieldsEntry[] | undefined): Managers {
  try {
    return decodeManagers(entries);
  } catch (error) {
    if (error instanceof ManagedFieldsError) return new Map();
    throw error;
  }
}

function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  if (entries.length > 1) return false;
  return Object.values(entries[0] ?? {}).every((value) => value === '' || value === undefined || value === null);
}

function entriesOf(object: JsonObject | undefined): readonly ManagedFieldsEntry[] | undefined {
  const entries = isJsonObject(object?.metadata) ? object.metadata.managedFields : undefined;
  return Array.isArray(entries) ? (entries as readonly ManagedFieldsEntry[]) : undefined;
}

function withoutManagedFields(object: JsonObject): JsonObject {
  if (!isJsonObject(object.metadata) || object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function uidOf(object: JsonObject | undefined): string {
  const uid = isJsonObject(object?.metadata) ? object.metadata.uid : undefined;
  return typeof uid === 'string' ? uid : '';
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

function gvkText(object: { readonly apiVersion?: unknown; readonly kind?: unknown }): string {
  const kind = typeof object.kind === 'string' ? object.kind : '';
  const apiVersion = typeof object.apiVersion === 'string' ? object.apiVersion : '';
  // One that has too many slashes counts as none.
  const { group, version } = /\/.*\//.test(apiVersion) ? { group: '', version: '' } : parseApiVersion(apiVersion);
  return formatGvk({ group, version, kind });
}
