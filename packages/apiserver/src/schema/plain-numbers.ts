import type { Json, JsonObject } from 'riata/object';

/**
 * The object with the nearest number for each bigint, for comparisons and calculations: Go does these with floats, too. The
 * object itself if it has no bigint, which is checked first: nearly all objects have none.
 */
export function plainNumbers<T extends JsonObject | undefined>(object: T): T {
  return hasBigint(object) ? (plain(object as Json) as T) : object;
}

/** The largest number below 2^63. */
const largestBelowInt64 = 2 ** 63 - 1024;

function hasBigint(value: unknown): boolean {
  if (typeof value !== 'object') return typeof value === 'bigint';
  if (value === null) return false;
  if (Array.isArray(value)) return value.some(hasBigint);
  for (const key in value) if (hasBigint((value as JsonObject)[key])) return true;
  return false;
}

function plain(value: unknown): unknown {
  // Not rounded up past the largest int64: it would no longer be an integer of that format.
  if (typeof value === 'bigint') return Math.min(Number(value), largestBelowInt64);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(plain);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const entries = Object.entries(value).map(([key, member]) => [key, plain(member), member] as const);
  if (entries.every(([, made, member]) => made === member)) return value;
  return Object.fromEntries(entries);
}
