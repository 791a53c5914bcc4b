import type { GroupVersion } from '../../object/gvk.js';

/** Turns an options object into query parameters (`runtime.ParameterCodec`). */
export type ParameterCodec = (options: object, version: GroupVersion) => Iterable<readonly [string, readonly string[]]>;

/**
 * Writes each own field under its name: strings, numbers and booleans as they are, arrays as several values. Fields
 * that are undefined, null or `''` are left out; `false` and `0` are sent. Throws a `TypeError` for anything else.
 */
export const defaultParameterCodec: ParameterCodec = function* (options) {
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === '') continue;
    yield [key, Array.isArray(value) ? value.map((item) => textOf(key, item)) : [textOf(key, value)]];
  }
};

function textOf(key: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || typeof value === 'bigint' || Number.isFinite(value)) return String(value);
  throw new TypeError(
    `query parameter "${key}" must be a string, number or boolean (or several), got ${describe(value)}`,
  );
}

function describe(value: unknown): string {
  return value === null ? 'null' : typeof value === 'number' ? String(value) : typeof value;
}
