/** A JSON value as it is on the wire. Everything that Riata moves is one of these: no classes, no `Date`. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A JSON object, read-only as everything that Riata hands out. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** True for a plain object: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
