/** Looks into objects of unknown shape: what is not there, or is of another type than asked for, is undefined. */

/** The value at a path of fields. */
export function valueAt(object: unknown, ...path: readonly string[]): unknown {
  let at = object;
  for (const field of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, field)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[field];
  }
  return at;
}

/** The text at a path; empty ones are none. */
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
