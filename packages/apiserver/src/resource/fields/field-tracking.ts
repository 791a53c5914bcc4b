import type { JsonObject, ManagedFieldsEntry, MergeType } from 'riata/object';

/** The manager of a write, and its operation. */
export interface FieldWriter {
  readonly manager: string;
  readonly apiVersion: string;
  /** `''` for the object itself. */
  readonly subresource: string;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

/** Maintains `metadata.managedFields`. */
export interface FieldTracking {
  /** The type by which objects merge. */
  readonly type: MergeType;
  /** The entries after an update from `before` (undefined for a new object) to `after`. */
  afterUpdate(before: JsonObject | undefined, after: JsonObject, writer: FieldWriter): readonly ManagedFieldsEntry[];
  /**
   * The object after `intent` was applied to `live`, entries included. Throws a `Refusal` with the conflicts unless
   * `force` is given.
   */
  apply(live: JsonObject | undefined, intent: JsonObject, writer: FieldWriter, force: boolean): JsonObject;
}
