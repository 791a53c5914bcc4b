import { Buffer } from 'node:buffer';
import { isJsonObject } from '../../object/json.js';
import type { KubeObject } from '../../object/meta.js';
import {
  type DecodeOptions,
  decodeScanned,
  type ObjectDecoder,
  withoutManagedFields,
} from '../../object/scan/decode-object.js';
import { lastByte, mayHoldLongInteger } from '../../object/scan/guess.js';
import { asBuffer, textOf } from '../../object/scan/native-bytes.js';
import { ObjectScanner, skipSpace } from '../../object/scan/object-scanner.js';
import { unsafeNumbers } from '../../object/scan/unsafe-numbers.js';
import { markLossy } from '../../object/value/lossy.js';
import { ApiError } from '../errors/api-error.js';
import { counted, DecodeError, errorFromObject, excerpt, watchDecodingError } from '../errors/decode-error.js';
import { statusOf } from '../errors/error-body.js';
import { ByteWindow } from '../transport/byte-window.js';
import { DEFAULT_MAX_OBJECT_BYTES, MOST_QUOTED } from './list-decoder.js';
import { quoteByte } from './quote-byte.js';
import type { WatchEvent, WatchEventType } from './watch-event.js';

/** How the events of a watch are decoded. */
export interface WatchDecodeOptions extends DecodeOptions {
  /** A larger event ends the stream with an `ERROR` event. @default 67108864 (64 MiB) */
  readonly maxObjectBytes?: number;
  /** Takes secrets out of what an error quotes. @default nothing is taken out */
  readonly redact?: (text: string) => string;
  /** Adds to the error of an `ERROR` event which request it answers. @default nothing is added */
  readonly locate?: (error: ApiError) => ApiError;
}

const TYPES: readonly WatchEventType[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'];

interface Prefix {
  readonly type: WatchEventType;
  readonly bytes: Uint8Array;
}

/** How kube-apiserver begins an event, by the first letter of its type. */
const PREFIXES: ReadonlyMap<number, Prefix> = new Map(
  TYPES.map((type) => [type.charCodeAt(0), { type, bytes: Buffer.from(`{"type":"${type}","object":{`) }]),
);
const TYPE_AT = '{"type":"'.length;
/** After so many objects in a row that had to be scanned, only some are tried without. */
const PATIENCE = 8;
const TRIED = 15;
const NEWLINE = 0x0a;
const CLOSE = 0x7d;

/**
 * Decodes the events of a watch while they arrive. `push` a chunk, then call `next` until it gives undefined; `finish`
 * after the last chunk, and `next` once more for the `ERROR` event if the last event was cut off.
 *
 * Events are separated by their braces, so newlines between them are not needed. What cannot be decoded gives one `ERROR`
 * event, and nothing after it: `failed` is true then.
 */
export class WatchDecoder<T = KubeObject> {
  readonly #window = new ByteWindow();
  /** Looks at the metadata one level down, in `object`. */
  readonly #scanner: ObjectScanner;
  readonly #cut: boolean;
  readonly #decoder: ObjectDecoder | undefined;
  readonly #maxObjectBytes: number;
  readonly #redact: (text: string) => string;
  readonly #locate: (error: ApiError) => ApiError;
  #inEvent = false;
  /** Whether the current event may end at its newline; otherwise it is scanned. */
  #guess = false;
  /** Whether a newline stood behind the last event. */
  #lines = false;
  /** How much of the current event has no newline. */
  #searched = 0;
  /** How many objects in a row could not be decoded without a scan. */
  #failedUnscanned = 0;
  #failed = false;
  #count = 0;
  /** The `ERROR` event that `finish` has made. */
  #last: WatchEvent<T> | undefined;

  constructor(options: WatchDecodeOptions = {}) {
    this.#cut = options.cutManagedFields === true;
    this.#scanner = new ObjectScanner(2, this.#cut);
    this.#decoder = options.decoder;
    this.#maxObjectBytes = options.maxObjectBytes ?? DEFAULT_MAX_OBJECT_BYTES;
    this.#redact = options.redact ?? ((text) => text);
    this.#locate = options.locate ?? ((error) => error);
  }

  /** True after an event could not be decoded. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Bytes of an incomplete event. */
  get incompleteBytes(): number {
    return this.#inEvent && !this.#failed ? this.#window.end - this.#window.start : 0;
  }

  push(chunk: Uint8Array): void {
    if (!this.#failed) this.#window.push(chunk);
  }

  next(): WatchEvent<T> | undefined {
    if (this.#failed) return this.#takeLast();
    const window = this.#window;
    for (;;) {
      if (this.#inEvent) {
        if (this.#guess) {
          const event = this.#guessed();
          if (event !== undefined) return event;
          // No newline yet: wait for it, unless this may be all of an event that has none.
          if (this.#guess) {
            if (!this.#mayBeWhole()) return undefined;
            this.#guess = false;
          }
        }
        const complete = this.#scanner.scan(window.bytes, window.start, window.end);
        if ((complete ? this.#scanner.length : window.end - window.start) > this.#maxObjectBytes) {
          return this.#fail(`an event has more than ${this.#maxObjectBytes} bytes; raise maxObjectBytes of the client`);
        }
        if (complete) break;
        return undefined;
      }
      const first = skipSpace(window.bytes, window.start, window.end);
      window.take(first - window.start);
      if (window.start === window.end) return undefined;
      if (window.bytes[window.start] === 0x7b) {
        this.#scanner.reset();
        this.#inEvent = true;
        this.#guess = this.#lines;
        this.#searched = 0;
      } else {
        return this.#fail(`expected an event in JSON, got ${this.#garbage()}`);
      }
    }
    const event = this.#decode();
    this.#take(this.#scanner.length);
    return event;
  }

  /** Reports the end of the bytes, for whatever reason: `next` then returns what was held back for more bytes. */
  flush(): void {
    this.#guess = false;
    this.#lines = false;
  }

  /** Reports the end of the bytes. */
  finish(): void {
    this.flush();
    if (this.#failed || !this.#inEvent) return;
    this.#last = this.next();
    if (this.#last !== undefined) return;
    const { start, end } = this.#window;
    this.#last = this.#fail(`the stream ended in the middle of an event, after ${end - start} bytes of it`);
  }

  #takeLast(): WatchEvent<T> | undefined {
    const last = this.#last;
    this.#last = undefined;
    return last;
  }

  /** The event of so many bytes has been decoded. */
  #take(length: number): void {
    const window = this.#window;
    window.take(length);
    if (window.start < window.end) this.#lines = window.bytes[window.start] === NEWLINE;
    this.#inEvent = false;
    this.#count++;
  }

  /**
   * The current event if its end can be found by a newline, which costs far less than a scan. A newline is nowhere else in
   * an event but between tokens, and no JSON object is the beginning of another one: what can be parsed from the brace of
   * `object` up to the last but one before the newline is the object. Undefined if there is no newline yet, or, with
   * `#guess` off, if the event has to be scanned.
   */
  #guessed(): WatchEvent<T> | undefined {
    const { bytes, start, end } = this.#window;
    const newline = asBuffer(bytes).indexOf(NEWLINE, start + this.#searched);
    if (newline < 0 || newline >= end) {
      this.#searched = end - start;
      if (end - start > this.#maxObjectBytes) this.#guess = false;
      return undefined;
    }
    const prefix = prefixOf(bytes, start);
    const to = newline - 1;
    this.#guess = false;
    if (prefix === undefined || bytes[to] !== CLOSE || newline - start > this.#maxObjectBytes) return undefined;
    const unscanned = this.#decodeUnscanned(prefix, start, to);
    if (unscanned !== undefined) {
      this.#take(newline - start);
      return unscanned;
    }
    const scanner = this.#scanner;
    let seen = start + prefix.bytes.length - 1;
    if (this.#cut) {
      scanner.stopAfterMetadata = true;
      const complete = scanner.scan(bytes, start, newline);
      scanner.stopAfterMetadata = false;
      if (complete || scanner.metadataEnd === 0 || scanner.suspectNumber) return undefined;
      seen = start + scanner.metadataEnd;
      // What lies behind the metadata was not looked at: there may be another one.
      scanner.cutUnsure = true;
    }
    const decoder = this.#decoderOf(prefix.type);
    if (mayHoldLongInteger(bytes, seen - 1, to)) return undefined;
    const window = this.#window;
    const cuts = this.#cut && decoder === undefined && scanner.cutEnd > 0;
    const cutHere = cuts && window.cutOut(start + scanner.cutStart, start + scanner.cutEnd);
    if (cutHere) scanner.cutEnd = 0;
    const first = window.start;
    const from = first + prefix.bytes.length - 1;
    try {
      const event = this.#event(prefix.type, decodeScanned<T>(bytes, first, scanner, this.#cut, from, to, '', decoder));
      this.#take(newline - first);
      return event;
    } catch {
      scanner.cutUnsure = false;
      if (cutHere) scanner.reset();
      return undefined;
    }
  }

  /**
   * The event from `start` to before `to`, if its object can be decoded without a scan: most changes leave the metadata as they
   * are but for the resourceVersion, so the previous version shows where they end. Seldom tried where it keeps failing.
   */
  #decodeUnscanned({ type, bytes: { length } }: Prefix, start: number, to: number): WatchEvent<T> | undefined {
    const decoder = this.#decoder;
    if (type !== 'MODIFIED' || !this.#cut || decoder?.decodeUnscanned === undefined) return undefined;
    if (this.#failedUnscanned > PATIENCE && (++this.#failedUnscanned & TRIED) !== 0) return undefined;
    const object = decoder.decodeUnscanned(this.#window.bytes, start + length - 1, to);
    this.#failedUnscanned = object === undefined ? this.#failedUnscanned + 1 : 0;
    return object === undefined ? undefined : this.#event(type, object as T);
  }

  /** Whether the current event may be complete without a newline behind it. */
  #mayBeWhole(): boolean {
    const { bytes, start, end } = this.#window;
    return lastByte(bytes, start, end) === CLOSE;
  }

  #decoderOf(type: WatchEventType): ObjectDecoder | undefined {
    return type === 'BOOKMARK' || type === 'ERROR' ? undefined : this.#decoder;
  }

  #decode(): WatchEvent<T> {
    const { bytes, start } = this.#window;
    const scanner = this.#scanner;
    try {
      const prefix = prefixOf(bytes, start);
      if (prefix !== undefined && scanner.innerEnd === scanner.length - 1) {
        const from = start + prefix.bytes.length - 1;
        const to = start + scanner.innerEnd;
        const object = decodeScanned<T>(bytes, start, scanner, this.#cut, from, to, '', this.#decoderOf(prefix.type));
        return this.#event(prefix.type, object);
      }
      return this.#decodeSlowly(textOf(bytes, start, start + scanner.length));
    } catch (error) {
      // The parser's own message would quote the object, which may be a Secret.
      return this.#fail(error instanceof TypeError ? error.message : 'broken JSON in an event');
    }
  }

  /** Any spelling of an event: other order of keys, white space, further members; or a Status in place of the stream. */
  #decodeSlowly(text: string): WatchEvent<T> {
    const event = JSON.parse(text) as { type?: unknown; object?: unknown };
    const type = TYPES.find((known) => known === event.type);
    const status = type === undefined ? statusOf(event) : undefined;
    if (status !== undefined) {
      this.#failed = true;
      return this.#errorEvent(new ApiError(status));
    }
    if (type === undefined) throw new TypeError(`unknown event type ${excerpt(this.#redact(String(event.type)))}`);
    if (!isJsonObject(event.object)) throw new TypeError(`${type} event without an object`);
    const object = (this.#cut ? withoutManagedFields(event.object) : event.object) as T & object;
    if (this.#scanner.suspectNumber) {
      const inObject = /^object(?=[.[])\.?/;
      const paths = unsafeNumbers(text).flatMap((path) => (inObject.test(path) ? [path.replace(inObject, '')] : []));
      if (paths.length > 0) markLossy(object, 'unsafe-integer', paths);
    }
    return this.#event(type, object);
  }

  /** What stands where an event should begin; after the first event only its first byte, as the rest may be a Secret's. */
  #garbage(): string {
    const { bytes, start, end } = this.#window;
    if (this.#count > 0) return quoteByte(bytes[start]!);
    return JSON.stringify(excerpt(this.#redact(textOf(bytes, start, Math.min(end, start + MOST_QUOTED)))));
  }

  #fail(problem: string): WatchEvent<T> {
    this.#failed = true;
    const before = counted(this.#count, 'event');
    return this.#errorEvent(watchDecodingError(new DecodeError(`${problem} (${before} came before)`, this.#count)));
  }

  #event(type: WatchEventType, object: T): WatchEvent<T> {
    return type === 'ERROR' ? this.#errorEvent(errorFromObject(object)) : ({ type, object } as WatchEvent<T>);
  }

  #errorEvent(found: ApiError): WatchEvent<T> {
    const error = this.#locate(found);
    return { type: 'ERROR', error, object: error.status };
  }
}

/** The way in which the event at `start` begins, if it is one that kube-apiserver uses. */
function prefixOf(bytes: Uint8Array, start: number): Prefix | undefined {
  const prefix = PREFIXES.get(bytes[start + TYPE_AT] ?? 0);
  return prefix !== undefined && startsWith(bytes, start, prefix.bytes) ? prefix : undefined;
}

function startsWith(bytes: Uint8Array, start: number, prefix: Uint8Array): boolean {
  for (let i = TYPE_AT + 1; i < prefix.length; i++) if (bytes[start + i] !== prefix[i]) return false;
  for (let i = 0; i < TYPE_AT; i++) if (bytes[start + i] !== prefix[i]) return false;
  return true;
}
