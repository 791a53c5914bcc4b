import type { Json, JsonObject } from 'riata/object';

/** Whether any whole number past 2^53 has come to this process. As long as there is none, nobody looks for them. */
export const bigints = { seen: false };

/**
 * The object with the nearest number for each bigint, for who compares and calculates: Go does that with floats too. The
 * object itself if it has none.
 */
export function plainNumbers<T extends JsonObject | undefined>(object: T): T {
  return bigints.seen ? (plain(object as Json) as T) : object;
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(plain);
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  const entries = Object.entries(value).map(([key, member]) => [key, plain(member), member] as const);
  if (entries.every(([, made, member]) => made === member)) return value;
  return Object.fromEntries(entries);
}
