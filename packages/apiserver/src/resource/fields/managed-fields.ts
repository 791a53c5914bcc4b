import {
  ApplyError,
  applyServerSide,
  conflictStatus,
  excludeFields,
  type JsonObject,
  type KindVersions,
  type ManagedFieldsEntry,
  type MergeType,
  type ResetFields,
  type Status,
  splitApiVersion,
  trackUpdate,
} from 'riata/object';
import { Refusal } from '../../status/refusal.js';
import { withMeta } from '../metadata.js';
import type { FieldTracking, FieldWriter } from './field-tracking.js';

/** Properties of a kind that decide how its fields are tracked. */
export interface TrackedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly type: MergeType;
  /** Other versions of entries. @default versions differ by `apiVersion` only */
  readonly versions?: KindVersions;
  /** An empty object of the kind. @default `apiVersion` and `kind` only */
  readonly empty?: JsonObject;
  /** Fields that a write cannot change, by subresource. */
  readonly resetFields?: (subresource: string) => ResetFields | undefined;
}

/** Maintains managedFields with the engine of `riata/object`. */
export function trackingOf(tracked: TrackedKind): FieldTracking {
  const { apiVersion, kind, type, versions, empty } = tracked;
  const requestOf = (live: JsonObject | undefined, writer: FieldWriter) => ({
    apiVersion,
    kind,
    type,
    versions,
    empty,
    live,
    manager: writer.manager,
    subresource: writer.subresource,
    resetFields: tracked.resetFields?.(writer.subresource),
    now: writer.nowMs,
  });
  return {
    type,
    afterUpdate: (before, after, writer) =>
      ownEntries(trackUpdate({ ...requestOf(before, writer), object: after }) ?? [], apiVersion),
    apply(live, intent, writer, force) {
      try {
        const result = applyServerSide({ ...requestOf(live, writer), config: intent, force });
        if (result.conflicts !== undefined) throw refusalOf(conflictStatus(result.conflicts));
        return withMeta(result.object, { managedFields: ownEntries(result.managedFields ?? [], apiVersion) });
      } catch (error) {
        if (error instanceof ApplyError) throw refusalOf(error.status());
        throw error;
      }
    },
  };
}

/**
 * A write to the object cannot change its status, and vice versa; `keeps` lists the metadata that a write to the status
 * cannot change.
 */
export function statusApart(
  hasStatus: boolean,
  keeps: readonly (readonly string[])[] = [['metadata', 'labels']],
): (subresource: string) => ResetFields | undefined {
  const withoutStatus = excludeFields(['status']);
  const statusAlone = excludeFields(['spec'], ...keeps);
  return (subresource) => {
    if (subresource === 'status') return statusAlone;
    return hasStatus ? withoutStatus : undefined;
  };
}

/** The same from a table. */
export function resetBy(
  paths: Readonly<Record<string, readonly (readonly string[])[]>>,
): (subresource: string) => ResetFields | undefined {
  const bySubresource = new Map(Object.entries(paths).map(([name, list]) => [name, excludeFields(...list)]));
  return (subresource) => bySubresource.get(subresource);
}

/** Drops entries of another group, whose fields have no equivalent in this one. */
function ownEntries(entries: readonly ManagedFieldsEntry[], apiVersion: string): readonly ManagedFieldsEntry[] {
  const group = splitApiVersion(apiVersion).group;
  const isOwn = (entry: ManagedFieldsEntry) => splitApiVersion(entry.apiVersion ?? '').group === group;
  return entries.every(isOwn) ? entries : entries.filter(isOwn);
}

function refusalOf(status: Status): Refusal {
  const { code = 500, reason = '', message = '', details } = status;
  return new Refusal(code, reason, message, details);
}
