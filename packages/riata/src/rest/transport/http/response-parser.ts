import { Buffer } from 'node:buffer';
import { asBuffer } from '../../../object/scan/native-bytes.js';
import { AnswerFailure } from './answer-failure.js';
import { checkStart, checkTrailer, HeadParser, maxHeadBytes, type ResponseHead } from './response-head.js';

/** Takes what a {@link ResponseParser} finds. */
export interface ResponseParserEvents {
  /** While true, nothing is handed out: `feed` returns before the next event. */
  readonly isPaused: boolean;
  /** The final head; informational ones (1xx) are skipped. */
  onHead(head: ResponseHead): void;
  /** The next bytes of the body, all that came together in one piece: valid during the call. */
  onBody(chunk: Uint8Array): void;
}

type State =
  | 'head'
  | 'length'
  | 'until-close'
  | 'chunk-size'
  | 'chunk-extension'
  | 'chunk-size-lf'
  | 'chunk-data'
  | 'chunk-data-cr'
  | 'chunk-data-lf'
  | 'trailers'
  | 'done';

const CR = 13;
const LF = 10;
const SEMICOLON = 0x3b;
const endOfHead = Buffer.from('\r\n\r\n');
/** Of the size of a chunk, zeros before it included. */
const maxSizeDigits = 16;
/** What is below this has room for one more digit. */
const maxSizeBefore = 2 ** 49;
/** More than these of chunks' extensions, or of trailers, are not HTTP any more. */
const maxAsideBytes = 65_536;
/** What a chunk may bring beside it, at least: a watch may go on for as long as its server pads each by a little. */
const freeAsideBytes = 16;

/**
 * Reads one HTTP/1.1 response from bytes that come in any pieces. The body is handed out in place: what several chunks
 * of it brought at once is moved together, as an event for each of the small ones costs more than to move them.
 */
export class ResponseParser {
  readonly #method: string;
  readonly #heads: HeadParser;
  readonly #upgrades: boolean;
  readonly #events: ResponseParserEvents;
  #state: State = 'head';
  /** The beginning of a head that has not come whole. */
  #partial: Buffer | undefined;
  /** Bytes left of the body or of the chunk; while its size is read, what it is so far. */
  #left = 0;
  #digits = 0;
  #aside = 0;
  /** Of an extension, or of a trailer, as far as it has come. */
  #line = '';
  /** The part of the body that has been found in the current bytes, `bytes[#bodyStart, #bodyEnd)`. */
  #bodyStart = 0;
  #bodyEnd = 0;

  /** `heads` is that of the connection; `upgrades` if the server was asked to switch to another protocol. */
  constructor(method: string, events: ResponseParserEvents, heads: HeadParser = new HeadParser(), upgrades = false) {
    this.#method = method;
    this.#upgrades = upgrades;
    this.#heads = heads;
    this.#events = events;
  }

  /** All of the response has come. */
  get done(): boolean {
    return this.#state === 'done';
  }

  /**
   * Reads on. Returns its position: the end of the bytes, or less if the response is done or the user has paused. The
   * bytes before it may be overwritten. Throws an {@link AnswerFailure} for malformed HTTP, after the body before it.
   */
  feed(bytes: Buffer): number {
    try {
      return this.#read(bytes);
    } finally {
      this.#handOut(bytes);
    }
  }

  #read(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && this.#state !== 'done' && !this.#events.isPaused) {
      switch (this.#state) {
        case 'head':
          at = this.#head(bytes, at);
          break;
        case 'length':
        case 'chunk-data':
        case 'until-close':
          at = this.#body(bytes, at);
          break;
        case 'trailers':
          // The end comes after the body, and not to a user that has paused there.
          this.#handOut(bytes);
          if (!this.#events.isPaused) at = this.#trailers(bytes, at);
          break;
        default:
          this.#frame(bytes[at] as number);
          at += 1;
      }
      if (this.#state === 'length' && this.#left === 0) {
        this.#handOut(bytes);
        if (!this.#events.isPaused) this.#state = 'done';
      }
    }
    return at;
  }

  /** To be called after a pause when no bytes are left, so that a body that was complete comes to its end. */
  settle(): void {
    if (this.#state === 'length' && this.#left === 0) this.#state = 'done';
  }

  /** No more will come. Throws unless that is the end of the response. */
  end(): void {
    this.settle();
    if (this.#state === 'until-close') this.#state = 'done';
    if (this.#state === 'done') return;
    const what =
      this.#state === 'head'
        ? 'the server closed the connection before a response came'
        : 'the server closed the connection in the middle of the response';
    throw new AnswerFailure('eof', what);
  }

  #head(given: Buffer, from: number): number {
    const before = this.#partial?.length ?? 0;
    const bytes = this.#partial ? Buffer.concat([this.#partial, given]) : given;
    checkStart(bytes, from, bytes.length);
    const end = bytes.indexOf(endOfHead, Math.max(from, before - endOfHead.length));
    if ((end < 0 ? bytes.length : end) - from > maxHeadBytes) throw broken('the response headers are too long');
    if (end < 0) {
      this.#partial = this.#partial ? bytes : Buffer.from(given.subarray(from));
      return given.length;
    }
    this.#partial = undefined;
    const head = this.#heads.parse(asBuffer(bytes).latin1Slice(from, end), this.#method);
    if (head.status === 101) {
      if (!this.#upgrades) throw broken('the server switched to another protocol');
      // What follows has no frame that HTTP knows.
      this.#state = 'until-close';
      this.#events.onHead(head);
      return end + endOfHead.length - before;
    }
    if (head.status < 200 && !head.keepAlive) throw broken('an informational response closes the connection');
    if (head.status >= 200) {
      this.#begin(head);
      this.#events.onHead(head);
    }
    return end + endOfHead.length - before;
  }

  #begin({ framing }: ResponseHead): void {
    if (framing === 'chunked') this.#state = 'chunk-size';
    else if (framing === 'until-close') this.#state = 'until-close';
    else {
      this.#left = framing.length;
      this.#state = 'length';
    }
  }

  #body(bytes: Buffer, from: number): number {
    const to = this.#state === 'until-close' ? bytes.length : Math.min(bytes.length, from + this.#left);
    if (to === from) return to;
    if (this.#state !== 'until-close') this.#left -= to - from;
    if (this.#state === 'chunk-data' && this.#left === 0) this.#state = 'chunk-data-cr';
    if (this.#bodyEnd === 0) this.#bodyStart = from;
    else bytes.copyWithin(this.#bodyEnd, from, to);
    this.#bodyEnd = (this.#bodyEnd || from) + to - from;
    return to;
  }

  /** Hands out the part of the body that has been found. */
  #handOut(bytes: Buffer): void {
    const [from, to] = [this.#bodyStart, this.#bodyEnd];
    if (to === 0) return;
    this.#bodyEnd = 0;
    this.#events.onBody(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to));
  }

  #frame(byte: number): void {
    switch (this.#state) {
      case 'chunk-size': {
        const digit = hexDigit(byte);
        if (digit >= 0 && this.#digits < maxSizeDigits && this.#left < maxSizeBefore) {
          this.#left = this.#left * 16 + digit;
          this.#digits += 1;
        } else if (this.#digits === 0 || digit >= 0) throw broken('malformed chunk size');
        else if (byte === CR) this.#state = 'chunk-size-lf';
        else if (byte === SEMICOLON) this.#state = 'chunk-extension';
        else throw broken('malformed chunk size');
        return;
      }
      case 'chunk-extension':
        this.#countAside(1);
        if (byte === LF) throw broken('a line ends without CR');
        if (byte !== CR) this.#line += String.fromCharCode(byte);
        else {
          if (!extensions.test(`;${this.#line}`)) throw broken('malformed chunk extension');
          this.#line = '';
          this.#state = 'chunk-size-lf';
        }
        return;
      case 'chunk-size-lf':
        expectByte(byte, LF);
        this.#digits = 0;
        this.#state = this.#left === 0 ? 'trailers' : 'chunk-data';
        this.#aside = Math.max(0, this.#aside - freeAsideBytes - this.#left);
        return;
      case 'chunk-data-cr':
        expectByte(byte, CR);
        this.#state = 'chunk-data-lf';
        return;
      case 'chunk-data-lf':
        expectByte(byte, LF);
        this.#left = 0;
        this.#state = 'chunk-size';
    }
  }

  /** Lines after the last chunk, up to an empty one: checked, and not handed out. */
  #trailers(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.length; ) {
      const lf = bytes.indexOf(LF, at);
      const end = lf < 0 ? bytes.length : lf;
      this.#countAside(end - at + 1);
      const line = this.#line + asBuffer(bytes).latin1Slice(at, end);
      this.#line = lf < 0 ? line : '';
      if (lf < 0) break;
      at = lf + 1;
      if (!line.endsWith('\r')) throw broken('a line ends without CR');
      if (line.length > 1) checkTrailer(line.slice(0, -1));
      else {
        this.#state = 'done';
        return at;
      }
    }
    return bytes.length;
  }

  #countAside(bytes: number): void {
    this.#aside += bytes;
    if (this.#aside > maxAsideBytes) throw broken('chunk extensions or trailers are too long');
  }
}

/** `;name`, `;name=value` or `;name="value"`, any number of them: neither spaces nor control characters, as in Node's parser. */
const extensions =
  /^(?:;[!#$%&'*+.^_`|~\w-]+(?:=(?:[!#$%&'*+.^_`|~\w-]+|"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"))?)+$/;

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function expectByte(byte: number, expected: number): void {
  if (byte !== expected) throw broken('a chunk is longer than its size');
}

function broken(what: string): AnswerFailure {
  return new AnswerFailure('protocol', what);
}
