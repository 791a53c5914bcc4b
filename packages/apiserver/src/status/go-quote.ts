import { Buffer } from 'node:buffer';

export { goQuote } from 'riata/object';

const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** Whether Go would print this character as it is (`unicode.IsPrint`). */
export function isPrintable(character: string): boolean {
  return printable.test(character);
}

/** A text in quotes as Go's package `time` writes it: what is not plain ASCII is shown byte by byte. */
export function goTimeQuote(text: string): string {
  const bytes = (character: string) =>
    [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
  return `"${text.replace(/["\\]/g, '\\$&').replace(/[^ -\x7f]/gu, bytes)}"`;
}
