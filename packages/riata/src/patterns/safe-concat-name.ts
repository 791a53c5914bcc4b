import { hash } from '../runtime/crypto/hash.js';

/**
 * The parts joined by `-`, as a name of at most 63 characters: a longer one is cut, and ends in a hash of the whole
 * (`name.SafeConcatName` of wrangler; the same names).
 */
export function safeConcatName(...parts: readonly string[]): string {
  const whole = parts.join('-');
  if (whole.length < 64) return whole;
  const digest = hash('sha256', whole);
  // One character less where the cut would leave something that no name may have before the hash.
  return /[a-z0-9]/.test(whole.charAt(56))
    ? `${whole.slice(0, 57)}-${digest.slice(0, 5)}`
    : `${whole.slice(0, 56)}-${digest.slice(0, 6)}`;
}

/**
 * A text of less than `length` characters as it is, and any other cut to `length`, ending in a hash of all of it
 * (`name.Limit` of wrangler; the same names). Throws a `RangeError` if there is no room for the hash.
 */
export function limitName(text: string, length: number): string {
  if (!Number.isInteger(length) || length < 7) {
    throw new RangeError(`limitName: length must be an integer ≥ 7, got ${length}`);
  }
  return text.length < length ? text : `${text.slice(0, length - 6)}-${hexOf(text, 5)}`;
}

/** The first characters of a text's MD5 in hex (`name.Hex` of wrangler): for telling names apart, never for secrets. */
export function hexOf(text: string, length: number): string {
  if (!Number.isInteger(length) || length < 1 || length > 32) {
    throw new RangeError(`hexOf: length must be an integer from 1 to 32, got ${length}`);
  }
  return hash('md5', text).slice(0, length);
}
