import { isJsonObject } from '../../object/json.js';

/** Stands for a value that is not shown. */
export const mask = '••••••';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
/** Members of a Secret whose values are secret. */
const secretMembers: ReadonlySet<string> = new Set(['data', 'stringData']);

/**
 * A copy of an object that people may look at: values in the data of a Secret are masked, and in every object the annotation
 * of the last applied configuration, which repeats them. Names of keys stay.
 */
export function masked<T>(object: T): T {
  if (!isJsonObject(object)) return object;
  const shown: Record<string, unknown> = { ...object };
  if (isSecret(object)) {
    for (const member of secretMembers) if (member in shown) shown[member] = maskValues(shown[member]);
  }
  const { metadata } = shown;
  if (isJsonObject(metadata) && isJsonObject(metadata.annotations) && lastApplied in metadata.annotations) {
    shown.metadata = { ...metadata, annotations: { ...metadata.annotations, [lastApplied]: mask } };
  }
  return shown as T;
}

/** Whether what is at this path of an object of the kind is masked. */
export function isMasked(kind: string, path: readonly string[]): boolean {
  if (path[0] === 'metadata' && path[1] === 'annotations' && path[2] === lastApplied) return true;
  return kind === 'Secret' && secretMembers.has(path[0] ?? '');
}

function maskValues(values: unknown): unknown {
  if (!isJsonObject(values)) return mask;
  return Object.fromEntries(Object.keys(values).map((key) => [key, mask]));
}

/** Lists and other kinds that hold Secrets are not shown by anything here. */
function isSecret({ kind }: { readonly kind?: unknown }): boolean {
  return kind === 'Secret';
}
