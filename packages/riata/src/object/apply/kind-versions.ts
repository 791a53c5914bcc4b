import { isJsonObject, type JsonObject } from '../json.js';
import { ApplyError } from './apply-error.js';
import type { FieldFilter } from './fields/field-filter.js';
import type { MergeType } from './typed/merge-type.js';
import { formatProblems, validateTyped } from './typed/validate-typed.js';

/** One served version of a kind. */
export interface KindVersion {
  readonly type: MergeType;
  /**
   * The object in this version, with its `apiVersion`. @default the same object with another `apiVersion`, as CRDs
   * with conversion strategy None do
   */
  readonly convert?: (object: JsonObject) => JsonObject;
}

/**
 * The versions that objects and field sets of a kind come in. Undefined for one that is not known: entries of it are
 * dropped, as for built-in kinds. Custom kinds throw an `ApplyError` instead, which ends an apply and, in an update,
 * clears the managedFields.
 */
export type KindVersions = (apiVersion: string) => KindVersion | undefined;

/** Fields that a write does not reach: the same for all versions, or per `apiVersion`. */
export type ResetFields = FieldFilter | ReadonlyMap<string, FieldFilter>;

/** An object together with its type in its version (`typed.TypedValue`). */
export interface Typed {
  readonly object: JsonObject;
  readonly type: MergeType;
}

/** Turns objects into other versions (`merge.Converter`). */
export class VersionConverter {
  readonly #versions: KindVersions;

  constructor(versions: KindVersions) {
    this.#versions = versions;
  }

  /** The object in a version; undefined if that is not served. Throws an `ApplyError` if it is not valid there. */
  convert(from: Typed, apiVersion: string): Typed | undefined {
    if (from.object.apiVersion === apiVersion) return from;
    const version = this.#versions(apiVersion);
    if (version === undefined) return undefined;
    const object = version.convert?.(from.object) ?? { ...from.object, apiVersion };
    if (!isJsonObject(object)) throw new ApplyError(500, `failed to convert the object to ${apiVersion}`);
    const problems = validateTyped(object, version.type);
    if (problems.length > 0) throw new ApplyError(500, formatProblems(problems));
    return { object, type: version.type };
  }
}

/** The filter for one version; undefined if nothing is left out. */
export function filterFor(reset: ResetFields | undefined, apiVersion: string): FieldFilter | undefined {
  return typeof reset === 'function' ? reset : reset?.get(apiVersion);
}
