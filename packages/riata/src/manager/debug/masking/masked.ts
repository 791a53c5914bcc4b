import { isJsonObject } from '../../../object/json.js';

/** Stands for a value that is not shown. */
export const mask = '••••••';

/** Annotations that repeat the whole object, of kubectl and of desired sets in the three-way form. */
const copies: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'objectset.rio.cattle.io/applied',
]);
/** Members of a Secret whose values are secret. */
const secretMembers: ReadonlySet<string> = new Set(['data', 'stringData']);

/**
 * A copy of an object that people may look at: values in the data of a Secret are masked, and in every object the annotations
 * with the last applied configuration, which repeat them. Names of keys stay.
 */
export function masked<T>(object: T): T {
  if (!isJsonObject(object)) return object;
  const shown: Record<string, unknown> = { ...object };
  if (isSecret(object)) {
    for (const member of secretMembers) if (member in shown) shown[member] = maskValues(shown[member]);
  }
  const { metadata } = shown;
  if (isJsonObject(metadata) && isJsonObject(metadata.annotations)) {
    const annotations = Object.entries(metadata.annotations);
    if (annotations.some(([name]) => copies.has(name))) {
      const hidden = annotations.map(([name, value]) => [name, copies.has(name) ? mask : value]);
      shown.metadata = { ...metadata, annotations: Object.fromEntries(hidden) };
    }
  }
  return shown as T;
}

/** Whether what is at this path of an object of the kind is masked. */
export function isMasked(kind: string, path: readonly string[]): boolean {
  if (path[0] === 'metadata' && path[1] === 'annotations' && copies.has(path[2] ?? '')) return true;
  return kind === 'Secret' && secretMembers.has(path[0] ?? '');
}

/** Whether what a JSON patch changes at this pointer is masked, or holds what is. */
export function isMaskedPointer(kind: string, pointer: string): boolean {
  const path = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const isAbove = path[0] === 'metadata' && (path.length === 1 || (path.length === 2 && path[1] === 'annotations'));
  return kind === 'Secret' || path.length === 0 || isAbove || isMasked(kind, path);
}

function maskValues(values: unknown): unknown {
  if (!isJsonObject(values)) return mask;
  return Object.fromEntries(Object.keys(values).map((key) => [key, mask]));
}

/** Lists and other kinds that hold Secrets are not shown by anything here. */
function isSecret({ kind }: { readonly kind?: unknown }): boolean {
  return kind === 'Secret';
}
