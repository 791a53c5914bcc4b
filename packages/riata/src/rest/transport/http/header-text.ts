import buffer, { Buffer } from 'node:buffer';

const beyondAscii = /[^\0-\x7f]/;

/** Text as a header's bytes, one character for each: UTF-8, which is what API servers read. */
export function toHeaderText(text: string): string {
  return beyondAscii.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

/** The text that one character per byte stands for, if the bytes are UTF-8; else as it is. */
export function fromHeaderText(text: string): string {
  if (!beyondAscii.test(text)) return text;
  const bytes = Buffer.from(text, 'latin1');
  return buffer.isUtf8(bytes) ? bytes.toString('utf8') : text;
}
