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

/** What has to be known of a kind to keep account of its fields. */
export interface TrackedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly type: MergeType;
  /** Other versions that entries may be in. @default they differ by name only */
  readonly versions?: KindVersions;
  /** An object of the kind in which nothing is set. @default `apiVersion` and `kind` alone */
  readonly empty?: JsonObject;
  /** Fields that a write does not reach, by subresource. */
  readonly resetFields?: (subresource: string) => ResetFields | undefined;
}

/** Keeps managedFields by the engine of `riata/object`. */
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
 * A write to the object does not reach its status, and the other way round; `keeps` is what of the metadata a write to
 * the status does not reach.
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

/** The same by a table. */
export function resetBy(
  paths: Readonly<Record<string, readonly (readonly string[])[]>>,
): (subresource: string) => ResetFields | undefined {
  const bySubresource = new Map(Object.entries(paths).map(([name, list]) => [name, excludeFields(...list)]));
  return (subresource) => bySubresource.get(subresource);
}

/** What was written as an object of another group cannot be told in the fields of this one, and is forgotten. */
function ownEntries(entries: readonly ManagedFieldsEntry[], apiVersion: string): readonly ManagedFieldsEntry[] {
  const group = splitApiVersion(apiVersion).group;
  const isOwn = (entry: ManagedFieldsEntry) => splitApiVersion(entry.apiVersion ?? '').group === group;
  return entries.every(isOwn) ? entries : entries.filter(isOwn);
}

function refusalOf(status: Status): Refusal {
  const { code = 500, reason = '', message = '', details } = status;
  return new Refusal(code, reason, message, details);
}
