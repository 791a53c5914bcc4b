import type { Random } from 'riata/runtime';

/** No vowels and no characters that resemble them, so that suffixes never form words. */
const letters = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const maxBase = 63 - suffixLength;

/** Appends a random suffix to `base`, for `generateName`. */
export function generateName(base: string, random: Random): string {
  let name = base.slice(0, maxBase);
  for (let i = 0; i < suffixLength; i++) name += letters[random.int(0, letters.length - 1)];
  return name;
}
