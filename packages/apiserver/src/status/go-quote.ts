import { Buffer } from 'node:buffer';

const named: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
};

const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** Whether Go would print this character as it is (`unicode.IsPrint`). */
export function isPrintable(character: string): boolean {
  return printable.test(character);
}

function escaped(character: string, quote: string): string {
  if (character === quote) return `\\${quote}`;
  const known = named[character];
  if (known !== undefined) return known;
  if (isPrintable(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** A text in quotes as Go writes it in messages (`%q`): like JSON, but for control characters. */
export function goQuote(text: string): string {
  if (/^[ -~]*$/.test(text)) return JSON.stringify(text);
  return `"${[...text].map((character) => escaped(character, '"')).join('')}"`;
}

/** One character in quotes, as in `invalid character '}'`. */
export function goQuoteCharacter(character: string): string {
  return `'${escaped(character, "'")}'`;
}

/** A text in quotes as Go's package `time` writes it: what is not plain ASCII is shown byte by byte. */
export function goTimeQuote(text: string): string {
  const bytes = (character: string) =>
    [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
  return `"${text.replace(/["\\]/g, '\\$&').replace(/[^ -\x7f]/gu, bytes)}"`;
}
