import { type GroupVersionKind, isJsonObject, type JsonObject, splitApiVersion } from 'riata/object';
import { Refusal } from '../../status/refusal.js';

/** Reduces the answer to its metadata. Throws 406 for an object where a list is requested, or vice versa. */
export function metadataOnly(value: unknown, as: GroupVersionKind): unknown {
  // Errors and the like stay what they are.
  if (!isJsonObject(value) || value.kind === 'Status') return value;
  const { items } = value;
  const isListExpected = as.kind === 'PartialObjectMetadataList';
  if (isListExpected !== Array.isArray(items)) {
    const is = isListExpected ? 'not a list' : 'a list';
    const message = `you requested ${as.kind}, but the requested object is ${is} (${goTypeOf(value)})`;
    throw new Refusal(406, 'NotAcceptable', message);
  }
  const apiVersion = `${as.group}/${as.version}`;
  if (!Array.isArray(items)) return { kind: as.kind, apiVersion, metadata: value.metadata };
  const kept = items.map((item: unknown) => ({
    kind: 'PartialObjectMetadata',
    apiVersion,
    metadata: isJsonObject(item) ? item.metadata : {},
  }));
  const { continue: token, ...rest } = isJsonObject(value.metadata) ? value.metadata : {};
  return { kind: as.kind, apiVersion, metadata: token ? { ...rest, continue: token } : rest, items: kept };
}

/** The Go type behind an object: built-in kinds have one each. */
function goTypeOf({ apiVersion, kind, items }: JsonObject): string {
  const { group } = splitApiVersion(String(apiVersion));
  const isBuiltIn = !group.includes('.') || group.endsWith('.k8s.io');
  if (!isBuiltIn) return `*unstructured.Unstructured${Array.isArray(items) ? 'List' : ''}`;
  return `*${group === '' ? 'core' : group.split('.')[0]}.${String(kind)}`;
}
