import { type GroupVersionKind, isJsonObject } from 'riata/object';
import { Refusal } from '../status/refusal.js';

/** What is asked for is turned into its metadata alone. Throws 406 for an object where a list is meant, or vice versa. */
export function metadataOnly(value: unknown, as: GroupVersionKind): unknown {
  // Errors and the like stay what they are.
  if (!isJsonObject(value) || value.kind === 'Status') return value;
  const { items } = value;
  const wantsList = as.kind === 'PartialObjectMetadataList';
  if (wantsList !== Array.isArray(items)) {
    const is = wantsList ? 'not a list' : 'a list';
    const message = `you requested ${as.kind}, but the requested object is ${is} (${String(value.kind)})`;
    throw new Refusal(406, 'NotAcceptable', message);
  }
  const apiVersion = `${as.group}/${as.version}`;
  if (!Array.isArray(items)) return { kind: as.kind, apiVersion, metadata: value.metadata };
  const kept = items.map((item: unknown) => ({
    kind: 'PartialObjectMetadata',
    apiVersion,
    metadata: isJsonObject(item) ? item.metadata : {},
  }));
  return { kind: as.kind, apiVersion, metadata: value.metadata, items: kept };
}
