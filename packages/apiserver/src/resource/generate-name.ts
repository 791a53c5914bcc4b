import type { Random } from 'riata/runtime';

/** No vowels and nothing that looks like one, so that no words come out. */
const letters = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const maxBase = 63 - suffixLength;

/** A name that begins with `base`, as the server makes it for `generateName`. */
export function generateName(base: string, random: Random): string {
  let name = base.slice(0, maxBase);
  for (let i = 0; i < suffixLength; i++) name += letters[random.int(0, letters.length - 1)];
  return name;
}
