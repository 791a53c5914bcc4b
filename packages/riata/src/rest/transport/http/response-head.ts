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

/** How many lines of a head are remembered for the next one. */
const maxKnownLines = 32;

/**
 * Parses the heads of one connection's responses. It remembers the lines of the last one: most lines of the next are the
 * same and need not be parsed again. Strict where leniency would let the same bytes mean two things: a length beside
 * chunks, two lengths, folded lines, spaces before a colon.
 */
export class HeadParser {
  #status: StatusLine = { line: 'HTTP/1.1 200 OK', isLatest: true, status: 200 };
  readonly #lines: HeaderLine[] = [];

  /** Parses a head, one character per byte, without the empty line at its end. Throws an {@link AnswerFailure}. */
  parse(text: string, method: string): ResponseHead {
    if (!standsAt(this.#status.line, text, 0)) this.#status = statusAt(text);
    const { line, isLatest, status } = this.#status;
    const headers: Record<string, string | string[]> = Object.create(null);
    let at = 0;
    for (let from = line.length + 2; from < text.length; at += 1) {
      let header = this.#lines[at];
      if (header === undefined || !standsAt(header.line, text, from)) {
        header = headerAt(text, from);
        if (at < maxKnownLines) this.#lines[at] = header;
      }
      addHeader(headers, header.name, header.value);
      from += header.line.length + 2;
    }
    const { connection } = headers;
    const options = connection === undefined ? none : listOf(connection);
    const kept = isLatest ? !options.includes('close') : options.includes('keep-alive');
    const framing = framingOf(status, headers, method);
    // Some servers send a body to HEAD all the same, which must not be taken for the next answer.
    const mayFollow = framing !== 'until-close' && (method !== 'HEAD' || status < 200);
    return {
      status,
      headers,
      framing,
      keepAlive: kept && mayFollow,
      keepAliveSeconds: keepAliveSecondsOf(headers['keep-alive']),
    };
  }
}

interface StatusLine {
  readonly line: string;
  /** Of HTTP/1.1, not 1.0. */
  readonly isLatest: boolean;
  readonly status: number;
}

function statusAt(text: string): StatusLine {
  const end = text.indexOf('\r\n');
  const line = end < 0 ? text : text.slice(0, end);
  const [, minor, code] = statusLine.exec(line) ?? [];
  if (code === undefined) throw new AnswerFailure('protocol', 'malformed status line');
  return { line, isLatest: minor === '1', status: Number(code) };
}

/** Whether this is the whole line that begins at `from`. */
function standsAt(line: string, text: string, from: number): boolean {
  const to = from + line.length;
  return text.startsWith(line, from) && (to === text.length || text.startsWith('\r\n', to));
}

/** Headers that frame the body. */
const framingNames: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);

function headerAt(text: string, from: number): HeaderLine {
  let to = text.indexOf('\r\n', from);
  if (to < 0) to = text.length;
  const colon = text.indexOf(':', from);
  if (colon < 0 || colon > to) throw new AnswerFailure('protocol', 'a header has no colon');
  const given = text.slice(from, colon);
  if (!headerName.test(given)) throw new AnswerFailure('protocol', 'malformed header name');
  const name = given.toLowerCase();
  // Node takes a tab for a part of these values, so that both would frame the same bytes in different ways.
  if (framingNames.has(name) && text.slice(colon, to).includes('\t')) {
    throw new AnswerFailure('protocol', `the header ${name} has a tab`);
  }
  const value = valueBetween(text, colon + 1, to);
  return { line: text.slice(from, to), name, value: unusual.test(value) ? unusualText(name, value) : value };
}

/** Throws for a line behind the body that is not a valid trailer. */
export function checkTrailer(line: string): void {
  const { name } = headerAt(line, 0);
  if (framingNames.has(name)) throw new AnswerFailure('protocol', `the header ${name} must not follow the body`);
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
  if (badValue.test(value)) throw new AnswerFailure('protocol', `the header ${name} has a control character`);
  return fromHeaderText(value);
}

function framingOf(status: number, headers: ResponseHeaders, method: string): BodyFraming {
  const length = headers['content-length'];
  const encoding = headers['transfer-encoding'];
  if (encoding !== undefined && length !== undefined) {
    throw new AnswerFailure('protocol', 'both content-length and transfer-encoding');
  }
  if (encoding !== undefined && (typeof encoding !== 'string' || encoding.toLowerCase() !== 'chunked')) {
    throw new AnswerFailure('protocol', 'transfer-encoding must be "chunked"');
  }
  const bytes = length === undefined ? undefined : lengthOf(length);
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return { length: 0 };
  if (encoding !== undefined) return 'chunked';
  return bytes === undefined ? 'until-close' : { length: bytes };
}

function lengthOf(value: string | readonly string[]): number {
  if (typeof value !== 'string') throw new AnswerFailure('protocol', 'more than one content-length');
  if (!/^\d{1,15}$/.test(value)) throw new AnswerFailure('protocol', 'malformed content-length');
  return Number(value);
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
    if (bytes[from + i] !== start[i]) throw new AnswerFailure('protocol', 'it does not start with "HTTP/1."');
  }
}
