import { getOwn } from './own.js';

/**
 * The value at a path of fields and list indexes, in an object of unknown shape; undefined if something on the way is
 * missing (`unstructured.NestedFieldNoCopy`).
 *
 * @example
 * valueAt(object, 'spec', 'template', 'spec', 'containers', '0', 'image');
 */
export function valueAt(object: unknown, ...path: readonly string[]): unknown {
  let at = object;
  for (const field of path) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = Array.isArray(at) ? at[Number(field)] : getOwn(at, field);
  }
  return at;
}

/** The string at a path; undefined if it is empty. */
export function textAt(object: unknown, ...path: readonly string[]): string | undefined {
  const value = valueAt(object, ...path);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The number at a path. */
export function numberAt(object: unknown, ...path: readonly string[]): number | undefined {
  const value = valueAt(object, ...path);
  return typeof value === 'number' ? value : undefined;
}

/** The elements of the list at a path. */
export function listAt(object: unknown, ...path: readonly string[]): readonly unknown[] {
  const value = valueAt(object, ...path);
  return Array.isArray(value) ? value : [];
}

/** The object at a path. */
export function mapAt(object: unknown, ...path: readonly string[]): Readonly<Record<string, unknown>> | undefined {
  const value = valueAt(object, ...path);
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMap ? (value as Readonly<Record<string, unknown>>) : undefined;
}
