import { createHash } from 'node:crypto';
import { goJson, type Json } from 'riata/object';

/** Letters that make no words. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** A short name for what a Pod template says; `collisions` gives another one for the same template. */
export function templateHash(template: unknown, collisions = 0): string {
  const digest = createHash('sha256').update(canonical(template)).update(String(collisions)).digest();
  return [...digest.subarray(0, 10)].map((byte) => alphabet[byte % alphabet.length]).join('');
}

/**
 * A short name for the data of a ControllerRevision, the same as upstream's StatefulSet controller gives it: FNV-1 of the
 * JSON as Go writes it.
 */
export function dataHash(data: unknown, collisions: number): string {
  const json = goJson(data as Json);
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(`${json}${collisions}`)) hash = Math.imul(hash, 0x01000193) ^ byte;
  return [...String(hash >>> 0)].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join('');
}

/** JSON whose members are in order of their names. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const sorted = members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}
