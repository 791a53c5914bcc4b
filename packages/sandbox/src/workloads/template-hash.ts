import { createHash } from 'node:crypto';

/** Letters that make no words. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** A short name for what a Pod template says; `collisions` gives another one for the same template. */
export function templateHash(template: unknown, collisions = 0): string {
  const digest = createHash('sha256')
    .update(JSON.stringify(sorted(template)))
    .update(String(collisions))
    .digest();
  return [...digest.subarray(0, 10)].map((byte) => alphabet[byte % alphabet.length]).join('');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, member]) => [key, sorted(member)]));
}
