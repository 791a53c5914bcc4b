import { Buffer, isUtf8 } from 'node:buffer';
import type { ResponseHeaders } from '../transport.js';

const beyondAscii = /[^\0-\x7f]/;

/** Text as a header's bytes, one character for each as undici wants it: UTF-8, which is what API servers read. */
export function toHeaderText(text: string): string {
  return beyondAscii.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

/** The text that undici's one character per byte stands for, if the bytes are UTF-8; else as it is. */
export function fromHeaderText(text: string): string {
  if (!beyondAscii.test(text)) return text;
  const bytes = Buffer.from(text, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : text;
}

/** The headers of a response with their values as text. The same object if all of it is ASCII, as nearly always. */
export function readHeaders(headers: ResponseHeaders): ResponseHeaders {
  let read: Record<string, string | readonly string[]> | undefined;
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || ![value].flat().some((text) => beyondAscii.test(text))) continue;
    read ??= { ...headers } as Record<string, string | readonly string[]>;
    read[name] = typeof value === 'string' ? fromHeaderText(value) : value.map(fromHeaderText);
  }
  return read ?? headers;
}
