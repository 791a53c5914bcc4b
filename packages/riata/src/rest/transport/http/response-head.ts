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
/** What goes beyond ASCII, or must not be there. */
const unusual = /[^\t\x20-\x7e]/;

/** A header as it stands in a head, and what it says. */
interface HeaderLine {
  readonly line: string;
  readonly name: string;
  readonly value: string;
}

/** Of the last head: most lines of the next one are the same, and need not be taken apart again. */
const lastLines: HeaderLine[] = [];
const maxLastLines = 32;

/**
 * Reads a head, one character per byte, without the empty line at its end. Strict where being generous would let the
 * same bytes mean two things: a length beside chunks, two lengths that differ, folded lines, spaces before a colon.
 */
export function parseHead(text: string, method: string): ResponseHead {
  if (!standsAt(lastStatus.line, text, 0)) lastStatus = statusAt(text);
  const { line, isLatest, status } = lastStatus;
  const headers: Record<string, string | string[]> = Object.create(null);
  let at = 0;
  for (let from = line.length + 2; from < text.length; at += 1) {
    let header = lastLines[at];
    if (header === undefined || !standsAt(header.line, text, from)) {
      header = headerAt(text, from);
      if (at < maxLastLines) lastLines[at] = header;
    }
    addHeader(headers, header.name, header.value);
    from += header.line.length + 2;
  }
  const wanted = headers.connection;
  const connection = wanted === undefined ? none : listOf(wanted);
  const kept = isLatest ? !connection.includes('close') : connection.includes('keep-alive');
  return {
    status,
    headers,
    framing: framingOf(status, headers, method),
    // Some servers send a body to HEAD all the same, which must not be taken for the next answer.
    keepAlive: kept && method !== 'HEAD',
    keepAliveSeconds: keepAliveSecondsOf(headers['keep-alive']),
  };
}

interface StatusLine {
  readonly line: string;
  /** Of HTTP/1.1, not 1.0. */
  readonly isLatest: boolean;
  readonly status: number;
}

let lastStatus: StatusLine = { line: 'HTTP/1.1 200 OK', isLatest: true, status: 200 };

function statusAt(text: string): StatusLine {
  const end = text.indexOf('\r\n');
  const line = end < 0 ? text : text.slice(0, end);
  const [, minor, code] = statusLine.exec(line) ?? [];
  if (code === undefined) throw new AnswerFailure('protocol', 'the status line is none');
  return { line, isLatest: minor === '1', status: Number(code) };
}

/** Whether this is the whole line that begins at `from`. */
function standsAt(line: string, text: string, from: number): boolean {
  const to = from + line.length;
  return text.startsWith(line, from) && (to === text.length || text.startsWith('\r\n', to));
}

/** Names that have been seen, so that those of every answer are checked and lowered once. */
const names = new Map<string, string>();
const maxNames = 256;

function headerAt(text: string, from: number): HeaderLine {
  let to = text.indexOf('\r\n', from);
  if (to < 0) to = text.length;
  const colon = text.indexOf(':', from);
  if (colon < 0 || colon > to) throw new AnswerFailure('protocol', 'a header has no colon');
  const given = text.slice(from, colon);
  let name = names.get(given);
  if (name === undefined) {
    if (!headerName.test(given)) throw new AnswerFailure('protocol', 'the name of a header is none');
    name = given.toLowerCase();
    if (names.size < maxNames) names.set(given, name);
  }
  const value = valueBetween(text, colon + 1, to);
  return { line: text.slice(from, to), name, value: unusual.test(value) ? unusualText(name, value) : value };
}

/** What says how a body is framed comes too late behind it. */
const framingNames: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);

/** Throws for a line behind the body that is no header, or must not stand there. */
export function checkTrailer(line: string): void {
  const { name } = headerAt(line, 0);
  if (framingNames.has(name)) throw new AnswerFailure('protocol', `the header ${name} must not come behind the body`);
}

/** Without the spaces around it. Not by `trim`, which takes the last byte of an "à" for one, too. */
function valueBetween(text: string, from: number, to: number): string {
  let [start, end] = [from, to];
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (start < end && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** The headers that Node's HTTP client gives as `rawHeaders`. */
export function headersFromRaw(raw: readonly string[]): ResponseHeaders {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let i = 0; i < raw.length; i += 2)
    addHeader(headers, `${raw[i]}`.toLowerCase(), fromHeaderText(`${raw[i + 1]}`));
  return headers;
}

function addHeader(headers: Record<string, string | string[]>, name: string, value: string): void {
  const known = headers[name];
  if (known === undefined) headers[name] = value;
  else if (typeof known === 'string') headers[name] = [known, value];
  else known.push(value);
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
  // The same length twice means one thing, and Go's client takes it, too.
  const [first, ...more] = typeof value === 'string' ? [value] : value;
  const isOne = first !== undefined && more.every((other) => other === first);
  const bytes = isOne && /^\d{1,15}$/.test(first) ? Number(first) : Number.NaN;
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

/** The largest head that is accepted. */
export const maxHeadBytes = 1_048_576;

const start = Buffer.from('HTTP/1.');

/** Throws as soon as what has come cannot be the beginning of a response. */
export function checkStart(bytes: Buffer, from: number, to: number): void {
  const length = Math.min(start.length, to - from);
  for (let i = 0; i < length; i++) {
    if (bytes[from + i] !== start[i]) throw new AnswerFailure('protocol', 'it does not begin with "HTTP/1."');
  }
}
