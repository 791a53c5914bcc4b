import { Buffer } from 'node:buffer';
import type { ResponseHeaders } from '../transport.js';
import { AnswerFailure } from './answer-failure.js';
import { fromHeaderText } from './header-text.js';

/** How the bytes after the headers are to be read. */
export type BodyFraming = { readonly length: number } | 'chunked' | 'until-close';

/** The status line and headers of a response. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly framing: BodyFraming;
  /** Whether the connection may carry another exchange after this one. */
  readonly keepAlive: boolean;
  /** How long the server says it keeps an idle connection, in seconds. */
  readonly keepAliveSeconds: number | undefined;
}

const statusLine = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// No line can hold a line break here; what is left is what a header must not carry.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const badValue = /[\0-\x08\x0a-\x1f\x7f]/;
/** Found nowhere in a head, it need not be looked for in each value: what goes beyond ASCII, or must not be there. */
const unusual = /[^\t\x20-\x7e\r\n]|\r(?!\n)|(?<!\r)\n/;

/**
 * Reads a head, one character per byte, without the empty line at its end. Strict where being generous would let the
 * same bytes mean two things: a length beside chunks, two lengths, folded lines, spaces before a colon.
 */
export function parseHead(text: string, method: string): ResponseHead {
  const endOfStatus = text.indexOf('\r\n');
  const [, minor, code] = statusLine.exec(endOfStatus < 0 ? text : text.slice(0, endOfStatus)) ?? [];
  if (code === undefined) throw new AnswerFailure('protocol', 'the status line is none');
  const status = Number(code);
  const headers: Record<string, string | string[]> = Object.create(null);
  const isPlain = !unusual.test(text);
  for (let from = endOfStatus < 0 ? text.length : endOfStatus + 2; from < text.length; ) {
    let to = text.indexOf('\r\n', from);
    if (to < 0) to = text.length;
    const colon = text.indexOf(':', from);
    if (colon < 0 || colon > to) throw new AnswerFailure('protocol', 'a header has no colon');
    addHeader(headers, text.slice(from, colon), text.slice(colon + 1, to).trim(), isPlain);
    from = to + 2;
  }
  const wanted = headers.connection;
  const connection = wanted === undefined ? none : listOf(wanted);
  const kept = minor === '1' ? !connection.includes('close') : connection.includes('keep-alive');
  return {
    status,
    headers,
    framing: framingOf(status, headers, method),
    // Some servers send a body to HEAD all the same, which must not be taken for the next answer.
    keepAlive: kept && method !== 'HEAD',
    keepAliveSeconds: keepAliveSecondsOf(headers['keep-alive']),
  };
}

/** Names that have been seen, so that those of every answer are checked and lowered once. */
const names = new Map<string, string>();
const maxNames = 256;

function addHeader(headers: Record<string, string | string[]>, given: string, value: string, isPlain: boolean): void {
  let name = names.get(given);
  if (name === undefined) {
    if (!headerName.test(given)) throw new AnswerFailure('protocol', 'the name of a header is none');
    name = given.toLowerCase();
    if (names.size < maxNames) names.set(given, name);
  }
  const text = isPlain ? value : unusualText(name, value);
  const known = headers[name];
  if (known === undefined) headers[name] = text;
  else if (typeof known === 'string') headers[name] = [known, text];
  else known.push(text);
}

function unusualText(name: string, value: string): string {
  if (badValue.test(value)) throw new AnswerFailure('protocol', `the header ${name} holds a control character`);
  return fromHeaderText(value);
}

function framingOf(status: number, headers: ResponseHeaders, method: string): BodyFraming {
  const length = headers['content-length'];
  const encoding = headers['transfer-encoding'];
  if (encoding !== undefined && length !== undefined) {
    throw new AnswerFailure('protocol', 'a response has chunks or a length, and this one has both');
  }
  if (encoding !== undefined && (typeof encoding !== 'string' || encoding.toLowerCase() !== 'chunked')) {
    throw new AnswerFailure('protocol', 'the transfer-encoding is not "chunked"');
  }
  const bytes = length === undefined ? undefined : lengthOf(length);
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return { length: 0 };
  if (encoding !== undefined) return 'chunked';
  return bytes === undefined ? 'until-close' : { length: bytes };
}

function lengthOf(value: string | readonly string[]): number {
  const bytes = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isNaN(bytes)) throw new AnswerFailure('protocol', 'the content-length is no number of bytes');
  return bytes;
}

const none: readonly string[] = [];

function listOf(value: string | readonly string[]): string[] {
  return String(value)
    .split(',')
    .map((part) => part.trim().toLowerCase());
}

function keepAliveSecondsOf(value: string | readonly string[] | undefined): number | undefined {
  const seconds = value === undefined ? undefined : /\btimeout=(\d{1,9})\b/i.exec(String(value))?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

/** How many bytes at most stand before the body. */
export const maxHeadBytes = 1_048_576;

const start = Buffer.from('HTTP/1.');

/** Throws as soon as what has come cannot be the beginning of a response. */
export function checkStart(bytes: Buffer, from: number, to: number): void {
  const length = Math.min(start.length, to - from);
  if (bytes.compare(start, 0, length, from, from + length) !== 0) {
    throw new AnswerFailure('protocol', 'it does not begin with "HTTP/1."');
  }
}
