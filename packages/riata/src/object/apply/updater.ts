import { compareStrings } from '../compare-strings.js';
import { isJsonObject, type JsonObject } from '../json.js';
import { equal } from '../value/equal.js';
import { ApplyError } from './apply-error.js';
import type { Conflict } from './conflict-status.js';
import type { FieldSet } from './fields/field-set.js';
import { filterFor, type ResetFields, type Typed, type VersionConverter } from './kind-versions.js';
import { type ManagedSet, type Managers, managerId } from './managers.js';
import { pruneFields } from './prune-fields.js';
import { reconcileFields } from './reconcile-fields.js';
import { type Comparison, compareTyped } from './typed/compare-typed.js';
import { mergeTyped } from './typed/merge-typed.js';
import { toFieldSet } from './typed/to-field-set.js';

/** Who writes, in which version. */
export type Writer = Pick<ManagedSet, 'manager' | 'applied' | 'apiVersion' | 'subresource'>;

export interface UpdaterOptions {
  readonly converter: VersionConverter;
  readonly resetFields?: ResetFields | undefined;
}

/**
 * Who owns what after a write, without regard to metadata and time (`merge.Updater`). Objects are valid and in the
 * version of the write.
 */
export class Updater {
  readonly #converter: VersionConverter;
  readonly #resetFields: ResetFields | undefined;

  constructor({ converter, resetFields }: UpdaterOptions) {
    this.#converter = converter;
    this.#resetFields = resetFields;
  }

  /** After a create, update or patch: the fields it changed are taken from others and returned. */
  update(
    live: Typed,
    next: Typed,
    apiVersion: string,
    managers: Managers,
  ): { readonly managers: Managers; readonly fields: FieldSet } {
    const others = this.#reconcile(live, managers);
    const { changes, left } = this.#claim(live, next, apiVersion, others, undefined);
    const fields = changes.modified.union(changes.added);
    return { managers: left, fields: this.#filter(apiVersion)?.(fields) ?? fields };
  }

  /**
   * Merges a configuration into the live object. `object` is undefined when that changes nothing. With conflicts and
   * without `force` nothing else is returned.
   */
  apply(
    live: Typed,
    config: Typed,
    writer: Writer,
    managers: Managers,
    force: boolean,
  ):
    | { readonly object: JsonObject | undefined; readonly managers: Managers }
    | { readonly conflicts: readonly Conflict[] } {
    const id = managerId(writer);
    const present = new Map(this.#reconcile(live, managers));
    const last = present.get(id);
    const merged = mergeTyped(live.object, config.object, live.type);
    if (!isJsonObject(merged)) throw new ApplyError(500, 'failed to merge config: nothing is left of the object');
    const applied = toFieldSet(config.object, config.type);
    const fields = this.#filter(writer.apiVersion)?.(applied) ?? applied;
    present.set(id, { ...writer, applied: true, time: last?.time, fields });
    let next: Typed = { object: merged, type: live.type };
    // What is applied again cannot be missing: only an applier that applies less, or in another version, may leave
    // something behind.
    if (last !== undefined && (last.apiVersion !== writer.apiVersion || !last.fields.difference(fields).isEmpty)) {
      next = pruneFields(next, last, present, writer.apiVersion, this.#converter);
    }
    const { conflicts, left } = this.#claim(live, next, writer.apiVersion, present, id);
    if (!force && conflicts.length > 0) return { conflicts };
    return { object: equal(live.object, next.object) ? undefined : next.object, managers: left };
  }

  #filter(apiVersion: string) {
    return filterFor(this.#resetFields, apiVersion);
  }

  /** Compares in every version in use and takes what changed from everyone but `self`. */
  #claim(live: Typed, next: Typed, apiVersion: string, managers: Managers, self: string | undefined) {
    const comparisons = new Map<string, Comparison>();
    const changes = this.#compare(live, next, apiVersion);
    comparisons.set(apiVersion, changes);
    const conflicts: Conflict[] = [];
    const left = new Map<string, ManagedSet>();
    for (const [id, set] of [...managers].sort(([a], [b]) => compareStrings(a, b))) {
      let fields = set.fields;
      if (id !== self) {
        let here = comparisons.get(set.apiVersion);
        if (here === undefined) {
          const before = this.#convert(live, set.apiVersion, 'failed to convert old object');
          const after = this.#convert(next, set.apiVersion, 'failed to convert new object');
          // A version that is not served any more: its managers are forgotten.
          if (before === undefined || after === undefined) continue;
          here = this.#compare(before, after, set.apiVersion);
          comparisons.set(set.apiVersion, here);
        }
        const taken = fields.intersection(here.modified.union(here.added));
        if (!taken.isEmpty) for (const path of taken.paths()) conflicts.push({ manager: set, path });
        fields = fields.difference(taken).difference(here.removed);
      }
      if (!fields.isEmpty) left.set(id, fields === set.fields ? set : { ...set, fields });
    }
    return { changes, conflicts, left };
  }

  #convert(from: Typed, apiVersion: string, failure: string): Typed | undefined {
    try {
      return this.#converter.convert(from, apiVersion);
    } catch (cause) {
      if (!(cause instanceof ApplyError)) throw cause;
      throw new ApplyError(cause.code, `${failure}: ${cause.message}`, { cause });
    }
  }

  #compare(before: Typed, after: Typed, apiVersion: string): Comparison {
    const all = compareTyped(before.object, after.object, before.type);
    const filter = this.#filter(apiVersion);
    if (filter === undefined) return all;
    return { added: filter(all.added), modified: filter(all.modified), removed: filter(all.removed) };
  }

  /** Brings everyone's fields in line with the present schema. */
  #reconcile(live: Typed, managers: Managers): Managers {
    const out = new Map<string, ManagedSet>();
    for (const [id, set] of managers) {
      const there = this.#converter.convert(live, set.apiVersion);
      if (there === undefined) continue;
      const fields = reconcileFields(set.fields, there.type);
      out.set(id, fields === set.fields ? set : { ...set, fields });
    }
    return out;
  }
}
