import { Buffer } from 'node:buffer';
import type { TransportRequest } from '../transport.js';
import { ConnectFailure } from './connect-failure.js';
import { toHeaderText } from './header-text.js';

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const target = /^[!-~]+$/;
const protocolName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(\/[!#$%&'*+.^_`|~0-9A-Za-z-]+)?$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const badValue = /[\0-\x08\x0a-\x1f\x7f]/;
/** Headers that only the connection may set: they frame the body or say what becomes of the connection. */
const reservedHeaders: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'expect',
  'content-length',
  'te',
  'host',
]);

/** Writes the heads of requests to one server. */
export class RequestHeads {
  readonly #prefix: string;
  /** Lines that come with every request. */
  readonly #always: string;
  /** Lines written lately, by name and value: the same few come with every request, and are checked once. */
  readonly #lines = new Map<string, Map<string, string>>();
  /** Whole texts, by headers that never change. */
  readonly #texts = new WeakMap<TransportRequest['headers'], string>();

  /** `prefix` stands before each path; `always` are headers of the connection's own. */
  constructor(prefix: string, always: Readonly<Record<string, string>>) {
    this.#prefix = prefix;
    this.#always = Object.entries(always)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
  }

  /**
   * The bytes before the body, with a wish for gzip or without, one character for each. Throws a {@link ConnectFailure} for what would not be one request:
   * its message never holds a value, which may be a secret.
   */
  of({ method, path: below, headers, body, bodyStream, upgrade }: TransportRequest, gzip: boolean): string {
    const path = this.#prefix + below;
    if (!token.test(method)) throw invalid('its method is malformed');
    if (!target.test(path))
      throw invalid('its path has a space, a control character or a non-ASCII character; escape it');
    let text = `${method} ${path} HTTP/1.1\r\n${this.#always}`;
    if (gzip) text += 'accept-encoding: gzip\r\n';
    if (upgrade !== undefined) text += `connection: Upgrade\r\nupgrade: ${checkedToken(upgrade)}\r\n`;
    text += Object.isFrozen(headers) ? this.#known(headers) : this.#written(headers);
    if (bodyStream !== undefined) text += 'transfer-encoding: chunked\r\n';
    else if (body !== undefined) text += `content-length: ${Buffer.byteLength(body)}\r\n`;
    else if (method === 'POST' || method === 'PUT' || method === 'PATCH') text += 'content-length: 0\r\n';
    return `${text}\r\n`;
  }

  /** The lines of headers that never change. */
  #known(headers: TransportRequest['headers']): string {
    let text = this.#texts.get(headers);
    if (text === undefined) {
      text = this.#written(headers);
      this.#texts.set(headers, text);
    }
    return text;
  }

  #written(headers: TransportRequest['headers']): string {
    let text = '';
    for (const name in headers) {
      const value = headers[name] as string | readonly string[];
      if (typeof value === 'string') text += this.#line(name, value);
      else for (const one of value) text += this.#line(name, one);
    }
    return text;
  }

  #line(name: string, value: string): string {
    let known = this.#lines.get(name);
    const line = known?.get(value);
    if (line !== undefined) return line;
    const made = headerLine(name, value);
    if (known === undefined) {
      if (this.#lines.size >= maxKept) this.#lines.clear();
      known = new Map();
      this.#lines.set(name, known);
    } else if (known.size >= maxKept) known.clear();
    known.set(value, made);
    return made;
  }
}

const maxKept = 64;

/** Headers for Node's HTTP client, which checks their names and values itself. Throws for reserved ones. */
export function headersToSend(headers: TransportRequest['headers']): Record<string, string | string[]> {
  const texts = ([name, value]: [string, string | readonly string[]]): [string, string | string[]] => {
    if (reservedHeaders.has(name.toLowerCase())) throw new TypeError(`the header "${name}" is set by the connection`);
    return [name, typeof value === 'string' ? toHeaderText(value) : value.map(toHeaderText)];
  };
  return Object.fromEntries(Object.entries(headers).map(texts));
}

function checkedToken(protocol: string): string {
  if (!protocolName.test(protocol)) throw invalid(`${JSON.stringify(protocol)} is not a valid protocol to upgrade to`);
  return protocol;
}

function headerLine(name: string, value: string): string {
  if (!token.test(name)) throw invalid(`${JSON.stringify(name)} is not a valid header name`);
  if (reservedHeaders.has(name.toLowerCase())) throw invalid(`the header "${name}" is set by the connection`);
  const text = toHeaderText(value);
  if (badValue.test(text)) throw invalid(`the header "${name}" has a line break or another control character`);
  return `${name}: ${text}\r\n`;
}

function invalid(what: string): ConnectFailure {
  return new ConnectFailure('invalid-request', `the request cannot be sent: ${what}`);
}
