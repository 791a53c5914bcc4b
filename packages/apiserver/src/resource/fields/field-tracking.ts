import type { JsonObject, ManagedFieldsEntry, MergeType } from 'riata/object';

/** Who writes, and how. */
export interface FieldWriter {
  readonly manager: string;
  readonly apiVersion: string;
  /** `''` for the object itself. */
  readonly subresource: string;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

/** Keeps `metadata.managedFields`: which writer says what. */
export interface FieldTracking {
  /** How objects merge. */
  readonly type: MergeType;
  /** The entries after an update from `before` (undefined: there was none) to `after`. */
  afterUpdate(before: JsonObject | undefined, after: JsonObject, writer: FieldWriter): readonly ManagedFieldsEntry[];
  /**
   * The object after `intent` was applied to `live`, entries included. Throws a `Refusal` with the conflicts unless
   * `force` is given.
   */
  apply(live: JsonObject | undefined, intent: JsonObject, writer: FieldWriter, force: boolean): JsonObject;
}
