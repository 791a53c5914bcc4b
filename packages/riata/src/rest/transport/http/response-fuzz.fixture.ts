import { Buffer } from 'node:buffer';
import { createRequire } from 'node:module';
import { type Random, seededRandom } from '../../../runtime/random.js';
import type { ResponseHeaders } from '../transport.js';
import { AnswerFailure } from './answer-failure.js';
import { headersFromRaw } from './response-head.js';
import { ResponseParser } from './response-parser.js';

/** What became of a response. */
export interface Outcome {
  /** `open`: it would have needed more bytes. */
  readonly end: 'complete' | 'open' | 'refused';
  readonly status: number | undefined;
  readonly headers: ResponseHeaders;
  readonly body: string;
  readonly keepAlive: boolean;
  /** Why it was refused. */
  readonly problem: string;
}

/** Reads a response by our parser, in pieces whose memory is overwritten, up to the end of the connection. */
export function readByOurs(pieces: readonly string[], method = 'GET'): Outcome {
  let head: Pick<Outcome, 'status' | 'headers' | 'keepAlive'> = { status: undefined, headers: {}, keepAlive: false };
  let body = '';
  const parser = new ResponseParser(method, {
    isPaused: false,
    onHead: ({ status, headers, keepAlive }) => {
      head = { status, headers, keepAlive };
    },
    onBody: (chunk) => {
      body += Buffer.from(chunk).toString('latin1');
    },
  });
  const outcome = (end: Outcome['end'], problem = ''): Outcome => ({ ...head, body, end, problem });
  try {
    for (const piece of pieces) {
      const bytes = Buffer.from(piece, 'latin1');
      if (!parser.done) parser.feed(bytes);
      bytes.fill(0x7a);
    }
    if (!parser.done) parser.end();
    return outcome('complete');
  } catch (error) {
    if (!(error instanceof AnswerFailure)) throw error;
    return outcome(error.kind === 'eof' ? 'open' : 'refused', error.message);
  }
}

/** The parts of Node's parser that its own HTTP client uses. They have no types. */
interface NodeParser {
  initialize(type: number, resource: object, maxHeaderSize: number, lenient: number): void;
  execute(bytes: Buffer): number | Error;
  finish(): undefined | Error;
  close(): void;
  [callback: number]: (...args: never[]) => unknown;
}
interface NodeParserClass {
  new (): NodeParser;
  readonly RESPONSE: number;
  readonly kOnHeaders: number;
  readonly kOnHeadersComplete: number;
  readonly kOnBody: number;
  readonly kOnMessageComplete: number;
}
const { HTTPParser } = createRequire(import.meta.url)('_http_common') as { HTTPParser: NodeParserClass };

/** Reads a response by Node's parser (llhttp), driven as Node's client drives it. */
export function readByNode(text: string, method = 'GET'): Outcome {
  let raw: string[] = [];
  let head = { status: undefined as number | undefined, headers: {} as ResponseHeaders, keepAlive: false };
  let body = '';
  let isFinal = false;
  let isComplete = false;
  const parser = new HTTPParser();
  parser.initialize(HTTPParser.RESPONSE, {}, 1_048_576, 0);
  parser[HTTPParser.kOnHeaders] = (headers: string[]) => void raw.push(...headers);
  parser[HTTPParser.kOnHeadersComplete] = (
    ...[, , headers, , , status, , upgrade, keepAlive]: [
      number,
      number,
      string[] | undefined,
      unknown,
      unknown,
      number,
      string,
      boolean,
      boolean,
    ]
  ) => {
    if (isComplete) return 1;
    if (upgrade || status === 101) throw new Error('upgrade');
    raw.push(...(headers ?? []));
    isFinal = status >= 200;
    head = { status, headers: headersFromRaw(raw), keepAlive };
    raw = [];
    return method === 'HEAD' || !isFinal ? 1 : 0;
  };
  parser[HTTPParser.kOnBody] = (chunk: Buffer) => {
    if (!isComplete) body += chunk.toString('latin1');
  };
  parser[HTTPParser.kOnMessageComplete] = () => {
    isComplete ||= isFinal;
    raw = [];
  };
  let problem: unknown;
  try {
    const result = parser.execute(Buffer.from(text, 'latin1'));
    if (result instanceof Error) problem = result;
    else if (!isComplete) problem = parser.finish();
  } catch (error) {
    problem = error;
  }
  parser.close();
  const { code, message } = Object(problem) as { code?: string; message?: string };
  const end = isComplete ? 'complete' : code === 'HPE_INVALID_EOF_STATE' || !problem ? 'open' : 'refused';
  return { ...head, body, end, problem: isComplete ? '' : `${code ?? message ?? ''}` };
}

const ok = 'HTTP/1.1 200 OK\r\n';
const json = 'Audit-Id: 4e1\r\nCache-Control: no-cache, private\r\nContent-Type: application/json\r\n';
const event = '{"type":"ADDED","object":{}}\n';
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const seeds: readonly string[] = [
  `${ok}${json}Content-Length: 5\r\nDate: now\r\n\r\nhello`,
  `${ok}${json}Transfer-Encoding: chunked\r\n\r\n${chunk(event)}${chunk(event)}0\r\n\r\n`,
  `${ok}transfer-encoding: chunked\r\n\r\n5;a=b;c="d e"\r\nhello\r\n0000c\r\n0\r\n\r\nHTTP/1.\r\n0\r\n\r\n`,
  `${ok}transfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n1\r\nx\r\n0\r\nx-sum: 1\r\ny:\r\nz: \xc3\xbc \r\n\r\n`,
  `HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n${ok}content-length: 2\r\n\r\nok`,
  'HTTP/1.1 204 No Content\r\netag: "a"\r\n\r\n',
  'HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\nx: y\r\n\r\n',
  'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\ncontent-length: 1\r\n\r\nx',
  `${ok}connection: close\r\n\r\nto the end`,
  'HTTP/1.1 409 Conflict\r\nWarning: 299 - "a"\r\nWarning: 299 - "b"\r\ncontent-length: 0\r\n\r\n',
];
const words: readonly string[] = [
  ...['\r\n', '\r\n\r\n', '\r', '\n', ' ', '\t', ':', ';', '=', '"', '\\', ',', '0', '1', '5', 'f', 'g', '-', '+'],
  ...['\x00', '\x01', '\x0b', '\x7f', '\x80', '\xff', 'x', 'chunked', 'close', 'keep-alive', 'identity', 'gzip'],
  ...['content-length: 1\r\n', 'Content-Length: 5\r\n', 'transfer-encoding: chunked\r\n', 'connection: close\r\n'],
  ...['x: 1\r\n', ' folded\r\n', 'HTTP/1.1 200 OK\r\n', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.0', '5\r\nhello\r\n'],
  ...['0\r\n\r\n', ';a=b', ';a="b"', 'ffffffffffffffff', '00000000000000000000', 'Upgrade: x\r\n', 'hello'],
];

/** A valid response with some of its bytes changed. */
function mutated(random: Random): string {
  const pick = <T>(all: readonly T[]) => all[random.int(0, all.length - 1)] as T;
  let text = pick(seeds);
  for (let left = random.int(0, 4); left > 0; left -= 1) {
    const at = random.int(0, text.length);
    const to = Math.min(text.length, at + random.int(0, 12));
    const line = text.indexOf('\r\n', at) + 2;
    switch (random.int(0, 6)) {
      case 0:
        text = text.slice(0, at) + String.fromCharCode(random.int(0, 255)) + text.slice(at + 1);
        break;
      case 1:
        text = text.slice(0, at) + text.slice(to);
        break;
      case 2:
        text = text.slice(0, to) + text.slice(at);
        break;
      case 3:
        text = text.slice(0, at) + pick(seeds).slice(random.int(0, 60));
        break;
      case 4:
        // At the start of a line, where words have a meaning.
        text = text.slice(0, line) + pick(words) + text.slice(line);
        break;
      default:
        text = text.slice(0, at) + pick(words) + text.slice(at);
    }
  }
  return text;
}

function cut(text: string, random: Random): string[] {
  const at = Array.from({ length: random.int(0, 5) }, () => random.int(0, text.length));
  const bounds = [0, ...at.sort((a, b) => a - b), text.length];
  return bounds.slice(1).map((to, i) => text.slice(bounds[i], to));
}

/** Rules of ours that Node's parser does not have: what is refused, and what the response then has. They never accept more. */
const stricter: ReadonlyMap<string, RegExp> = new Map([
  // Node reads other codings up to the end of the connection.
  ['transfer-encoding must be "chunked"', /transfer-encoding/i],
  ['both content-length and transfer-encoding', /transfer-encoding: *\r\n/i],
  ['the header transfer-encoding has a tab', /\t/],
  ['the header content-length has a tab', /\t/],
  ['the header transfer-encoding must not follow the body', /\n0+(;[^\r]*)?\r\n[\s\S]*transfer-encoding/i],
  ['the header content-length must not follow the body', /\n0+(;[^\r]*)?\r\n[\s\S]*content-length/i],
  // Numbers with more digits than they need.
  ['malformed content-length', /\d{16}/],
  ['malformed chunk size', /[\da-f]{16}/i],
  // Node takes some extensions without a name or a value.
  ['malformed chunk extension', /[\da-f];/i],
  // Control characters in the reason phrase, unknown classes of status, and empty lines before a status line.
  ['malformed status line', /HTTP/],
  // Node ends a status line at a bare CR.
  ['the server closed the connection before a response came', /HTTP[^\r\n]*\r[^\n]/],
  ['it does not start with "HTTP/1."', /(^|\n)\s/],
]);

/** One way in which the parsers differ as they must not. */
export interface Difference {
  readonly text: string;
  readonly method: string;
  readonly what: string;
  readonly ours: Outcome;
  readonly nodes: Outcome;
}

/** Compares both parsers on one response, whole and in pieces. */
export function compare(text: string, method: string, pieces: readonly string[]): Difference | undefined {
  const ours = readByOurs([text], method);
  const nodes = readByNode(text, method);
  const differ = (what: string): Difference => ({ text, method, what, ours, nodes });
  const inPieces = readByOurs(pieces, method);
  if (JSON.stringify(inPieces) !== JSON.stringify(ours)) return differ(`in pieces: ${JSON.stringify(inPieces)}`);
  if (ours.end === 'complete') {
    if (nodes.end !== 'complete') return differ('accepted, but not by Node');
    if (ours.status !== nodes.status || ours.body !== nodes.body) return differ('status or body');
    if (JSON.stringify(ours.headers) !== JSON.stringify(nodes.headers)) return differ('headers');
    if (ours.keepAlive && !nodes.keepAlive) return differ('kept alive, but not by Node');
  } else if (nodes.end === 'complete' && !stricter.get(ours.problem)?.test(text))
    return differ('accepted by Node only');
  return undefined;
}

/** Compares both parsers on so many mutated responses. Gives the differences, and how many responses were accepted. */
export function fuzzResponses(runs: number, seed: number): { differences: Difference[]; accepted: number } {
  const random = seededRandom(seed);
  const differences: Difference[] = [];
  let accepted = 0;
  for (let run = 0; run < runs && differences.length < 20; run += 1) {
    const text = mutated(random);
    const method = random.int(0, 9) === 0 ? 'HEAD' : 'GET';
    const difference = compare(text, method, cut(text, random));
    if (difference) differences.push(difference);
    else if (readByOurs([text], method).end === 'complete') accepted += 1;
  }
  return { differences, accepted };
}
