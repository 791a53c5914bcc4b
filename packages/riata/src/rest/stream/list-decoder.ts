import { Buffer } from 'node:buffer';
import { isJsonObject, type JsonObject } from '../../object/json.js';
import type { KubeObject, ListMeta, TypeMeta } from '../../object/meta.js';
import { type DecodeOptions, decodeScanned, type ObjectDecoder } from '../../object/scan/decode-object.js';
import {
  guessEnd,
  guessEndBeforePart,
  LONGEST_BEGINNING,
  lastByte,
  mayHoldLongInteger,
  UNKNOWN_BEGINNING,
} from '../../object/scan/guess.js';
import { textOf } from '../../object/scan/native-bytes.js';
import { isSpace, ObjectScanner } from '../../object/scan/object-scanner.js';
import { ApiError } from '../errors/api-error.js';
import { counted, DecodeError, excerpt } from '../errors/decode-error.js';
import { statusOf } from '../errors/error-body.js';
import { ByteWindow } from '../transport/byte-window.js';
import { isTyped, itemTypeOf, saysType, withType } from './item-type.js';
import { ListBatch } from './list-batch.js';
import { ListEnvelope } from './list-envelope.js';
import { quoteByte } from './quote-byte.js';

/** How the body of a list is decoded. */
export interface ListDecodeOptions extends DecodeOptions {
  /**
   * What to write into items that come without `apiVersion` and `kind`.
   * @default taken from the list: its own `apiVersion`, and its `kind` without `List`
   */
  readonly itemType?: TypeMeta;
  /** Larger objects are an error. @default 67108864 (64 MiB) */
  readonly maxObjectBytes?: number;
  /** Takes secrets out of what an error quotes. @default nothing is taken out */
  readonly redact?: (text: string) => string;
}

/** What a list says beside its items. */
export interface ListEnd extends TypeMeta {
  readonly metadata: ListMeta;
  /** Number of items that came. */
  readonly count: number;
}

export const DEFAULT_MAX_OBJECT_BYTES: number = 64 << 20;

/** So many right guesses save what a wrong one costs: items that hold what looks like another's beginning are better scanned. */
const WRONG_GUESS = 20;
const MAX_TRUST = 3 * WRONG_GUESS;
/** What a guess may give in place of a length: it needs more bytes, or the item has to be scanned. */
const WAIT = 0;
const SCAN = -1;
/** How much of an item is waited for before it is scanned. */
const MOST_WAIT_BYTES = 65_536;
/** How much of a body that is not a list is kept for the excerpt in the error: secrets are longer than that. */
export const MOST_QUOTED = 16_384;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;

/** The JSON values that may come next between two items. */
type Expect = 'item-or-end' | 'item' | 'comma-or-end';

/**
 * Decodes the body of a LIST item by item while it arrives, so that the whole of it is never held. `push` a chunk, then
 * call `next` until it gives undefined; `finish` after the last chunk, and `next` once more for what was held back: an
 * item may wait for what shows that it has ended, the beginning of the next one.
 *
 * Keys may come in any order, and only items whose type is not known yet wait for the end of the list. Broken JSON is a
 * {@link DecodeError}, a Status in place of the list an {@link ApiError}.
 */
export class ListDecoder<T = KubeObject> {
  readonly #window = new ByteWindow();
  readonly #envelope = new ListEnvelope();
  readonly #scanner: ObjectScanner;
  readonly #cut: boolean;
  readonly #decoder: ObjectDecoder | undefined;
  readonly #maxObjectBytes: number;
  readonly #redact: (text: string) => string;
  /** Items that come together; undefined with a decoder of the caller. */
  readonly #batch: ListBatch<T> | undefined;
  #at: 'start' | 'envelope' | 'items' | 'item' | 'after' = 'start';
  #expect: Expect = 'item-or-end';
  #type: TypeMeta | undefined;
  /** `{"apiVersion":…,"kind":…,` */
  #typeText = '';
  #typeBytes: Uint8Array = Buffer.from('');
  /** Items without type before the type of the list is known, in order; nothing overtakes them. */
  #untyped: T[] = [];
  #released = 0;
  #finished: ListEnd | undefined;
  #count = 0;
  /** Whether the end of the current item is, or may be, a guess; a wrong one is followed by a scan. */
  #guess = false;
  /** Falls with each wrong guess; below zero, no more are made. */
  #trust = MAX_TRUST;
  /** Seven eighths of the shortest item so far: most of the others need not be searched before. */
  #least = 0;
  /** How far the current item has been searched for its end. */
  #searched = 0;
  #head: JsonObject = {};

  constructor(options: ListDecodeOptions = {}) {
    this.#cut = options.cutManagedFields === true;
    this.#scanner = new ObjectScanner(1, this.#cut);
    this.#decoder = options.decoder;
    this.#maxObjectBytes = options.maxObjectBytes ?? DEFAULT_MAX_OBJECT_BYTES;
    this.#redact = options.redact ?? ((text) => text);
    this.#batch = this.#decoder ? undefined : new ListBatch(this.#cut, this.#maxObjectBytes);
    this.#setType(options.itemType);
  }

  /** Never: what is wrong with a list is thrown. */
  readonly failed: boolean = false;

  /** Number of items decoded so far. */
  get count(): number {
    return this.#count;
  }

  /** The list's metadata, as far as it has come: most servers send it before the items, some after them. */
  get metadata(): ListMeta | undefined {
    if (this.#finished) return this.#finished.metadata;
    return isJsonObject(this.#head.metadata) ? this.#head.metadata : undefined;
  }

  push(chunk: Uint8Array): void {
    this.#window.push(chunk);
  }

  next(): T | undefined {
    if (this.#finished) return this.#untyped[this.#released++];
    const batched = this.#batch?.next();
    if (batched !== undefined) return this.#counted(batched);
    const window = this.#window;
    for (;;) {
      if (this.#at === 'item') {
        const first = this.#guess ? this.#nextBatch() : undefined;
        if (first !== undefined) return this.#counted(first);
        if (this.#guess && this.#batch?.waits(window)) return undefined;
        let length = this.#guess ? this.#guessLength() : SCAN;
        if (length === WAIT) return undefined;
        if (length === SCAN) {
          this.#guess = false;
          if (!this.#scanner.scan(window.bytes, window.start, window.end)) {
            this.#limit(window.end - window.start);
            return undefined;
          }
          length = this.#scanner.length;
        }
        this.#limit(length);
        const to = window.start + length;
        const parsed = this.#parseItem(to);
        if (parsed === undefined) continue;
        if (this.#guess && this.#trust < MAX_TRUST) this.#trust++;
        if (this.#least === 0 || length < this.#least) this.#least = (length * 7) >> 3;
        const item = this.#typed(parsed);
        window.take(to - window.start);
        this.#at = 'items';
        this.#expect = 'comma-or-end';
        this.#count++;
        this.#batch?.passed();
        if (item !== undefined) return item;
        continue;
      }
      if (window.start === window.end) return undefined;
      if (this.#at === 'items') this.#betweenItems();
      else if (this.#at === 'envelope') this.#inEnvelope();
      else this.#aroundList();
    }
  }

  /** Reports the end of the bytes, for whatever reason: `next` then returns what was held back for more bytes. */
  flush(): void {
    this.#guess = false;
    this.#trust = 0;
  }

  /** Reports the end of the bytes; throws if that is too early. */
  finish(): ListEnd {
    if (this.#finished) return this.#finished;
    this.flush();
    for (let item = this.next(); item !== undefined; item = this.next()) this.#untyped.push(item);
    if (this.#at !== 'after') {
      this.#fail(
        this.#at === 'start'
          ? 'an empty body'
          : 'a body that ends too early: the connection broke, or a proxy cut it off',
      );
    }
    const list = this.#parseEnvelope('');
    const { kind, apiVersion, metadata } = list;
    if (kind === 'Status')
      throw new ApiError(
        statusOf(list) ?? { status: 'Failure', message: 'the server sent a Status instead of a list' },
      );
    if (!Object.hasOwn(list, 'items') && !(typeof kind === 'string' && kind.endsWith('List'))) {
      this.#fail(`an object of kind ${JSON.stringify(kind)} without items`);
    }
    if (Object.hasOwn(list, 'items') && list.items !== null && !Array.isArray(list.items))
      this.#fail('items that are not an array');
    this.#setType(itemTypeOf(list));
    if (this.#type)
      for (let i = 0; i < this.#untyped.length; i++)
        this.#untyped[i] = withType(this.#untyped[i] as object, this.#type) as T;
    this.#finished = {
      apiVersion: typeof apiVersion === 'string' ? apiVersion : '',
      kind: typeof kind === 'string' ? kind : '',
      metadata: isJsonObject(metadata) ? metadata : {},
      count: this.#count,
    };
    return this.#finished;
  }

  /** The first of the items that have come together with the current one; undefined if it has to be decoded alone. */
  #nextBatch(): T | undefined {
    const type = this.#type;
    if (type === undefined || this.#untyped.length > 0 || !this.#batch?.fill(this.#window, type)) return undefined;
    this.#at = 'items';
    this.#expect = 'comma-or-end';
    this.#trust = MAX_TRUST;
    return this.#batch.next();
  }

  #counted(item: T): T {
    this.#count++;
    return item;
  }

  /** The item with its type; undefined when it has to wait for it. */
  #typed(parsed: T): T | undefined {
    let item = parsed;
    const typed = isTyped(item as object);
    if (!typed && this.#type) item = withType(item as object, this.#type) as T;
    if (this.#untyped.length === 0 && (typed || this.#type || saysType(this.#head))) return item;
    this.#untyped.push(item);
    return undefined;
  }

  /**
   * Length of the current item by a guess, {@link WAIT} or {@link SCAN}: most of the way, a search takes the place of the
   * scan. With managedFields to be cut, the scan continues until the metadata is closed.
   */
  #guessLength(): number {
    const { bytes, start, end } = this.#window;
    if (end - start < LONGEST_BEGINNING) return this.#endAtHand(start) === WAIT ? WAIT : SCAN;
    const scanner = this.#scanner;
    let seen = start + 1;
    if (this.#cut) {
      if (scanner.metadataEnd === 0) {
        scanner.stopAfterMetadata = true;
        const complete = scanner.scan(bytes, start, end);
        scanner.stopAfterMetadata = false;
        if (complete || scanner.suspectNumber) return SCAN;
        if (scanner.metadataEnd === 0) return end - start > MOST_WAIT_BYTES ? SCAN : WAIT;
      }
      seen = start + scanner.metadataEnd;
    }
    const from = Math.max(seen, start + this.#searched, start + this.#least);
    let to = guessEnd(bytes, start, from, end);
    if (to === UNKNOWN_BEGINNING) return SCAN;
    if (to < 0) {
      to = this.#endAtHand(seen);
      if (to <= 0) {
        this.#searched = end - start - LONGEST_BEGINNING;
        return to;
      }
    }
    return mayHoldLongInteger(bytes, seen - 1, to) ? SCAN : to - start;
  }

  /** Where the item may end when no other begins behind it; else {@link WAIT} or {@link SCAN}. */
  #endAtHand(seen: number): number {
    const { bytes, start, end } = this.#window;
    // The next item may begin in another way: that is not waited for without end.
    if (end - start > MOST_WAIT_BYTES) return SCAN;
    // Most are as long as those before: it was cut by the way in which the bytes come.
    if (end - start < this.#least) return WAIT;
    const part = guessEndBeforePart(bytes, seen, end);
    if (part > 0) return part;
    const last = lastByte(bytes, start, end);
    // As the list ends, too.
    return last === CLOSE_BRACE || last === CLOSE_BRACKET ? SCAN : WAIT;
  }

  /** The item that ends at `to`; undefined if that was a guess, and wrong. */
  #parseItem(to: number): T | undefined {
    const window = this.#window;
    const scanner = this.#scanner;
    const { bytes, start } = window;
    // What lies behind the metadata was not looked at: there may be another one.
    if (this.#guess) scanner.cutUnsure = true;
    // A member that begins like `apiVersion` or `kind` may be one; white space and `{}` are left to `withType`.
    const second = bytes[start + 2];
    const untyped = this.#typeText !== '' && bytes[start + 1] === 0x22 && second !== 0x61 && second !== 0x6b;
    const decoder = this.#decoder;
    const cuts = this.#cut && scanner.cutEnd > 0;
    const cutHere = decoder === undefined && cuts && window.cutOut(start + scanner.cutStart, start + scanner.cutEnd);
    if (cutHere) scanner.cutEnd = 0;
    const from = window.start;
    const typeBytes = this.#typeBytes;
    try {
      // In place: putting the type in afterwards costs as much as parsing a tenth of a Pod does.
      if (untyped && decoder === undefined && (cutHere || !cuts) && typeBytes.length <= from) {
        bytes.set(typeBytes, from + 1 - typeBytes.length);
        return decodeScanned<T>(bytes, from, scanner, this.#cut, from + 1 - typeBytes.length, to, '', decoder);
      }
      const head = untyped && (decoder !== undefined || cuts) ? this.#typeText : '';
      const first = head === '' ? from : from + 1;
      return decodeScanned<T>(bytes, from, scanner, this.#cut, first, to, head, decoder);
    } catch {
      // The parser's own message would quote the object, which may be a Secret.
      if (!this.#guess) this.#fail('an item that is broken JSON');
      bytes[from] = OPEN_BRACE;
      if (cutHere) scanner.reset();
      this.#guess = false;
      this.#trust -= WRONG_GUESS;
      this.#least = 0;
      return undefined;
    }
  }

  #limit(length: number): void {
    if (length > this.#maxObjectBytes) this.#tooLarge('an item');
  }

  #setType(type: TypeMeta | undefined): void {
    this.#type ??= type;
    const { apiVersion, kind } = this.#type ?? {};
    this.#typeText =
      kind === undefined ? '' : `{"apiVersion":${JSON.stringify(apiVersion)},"kind":${JSON.stringify(kind)},`;
    this.#typeBytes = Buffer.from(this.#typeText);
  }

  #betweenItems(): void {
    const window = this.#window;
    const byte = window.bytes[window.start]!;
    if (isSpace(byte)) window.take(1);
    else if (byte === 0x2c && this.#expect === 'comma-or-end') {
      this.#expect = 'item';
      window.take(1);
    } else if (byte === 0x7b && this.#expect !== 'comma-or-end') {
      this.#scanner.reset();
      this.#guess = this.#trust > 0;
      this.#searched = 0;
      this.#at = 'item';
    } else if (byte === 0x5d && this.#expect !== 'item') {
      this.#at = 'envelope';
    } else
      this.#fail(
        `${quoteByte(byte)} where ${this.#expect === 'comma-or-end' ? 'a comma or the end of items' : 'an object'} was expected in items`,
      );
  }

  #inEnvelope(): void {
    const window = this.#window;
    const read = this.#envelope.read(window.bytes, window.start, window.end);
    window.take(read);
    if (this.#envelope.length > this.#maxObjectBytes) this.#tooLarge('metadata');
    if (this.#envelope.at === 'end') this.#at = 'after';
    else if (this.#envelope.at === 'items') {
      if (this.#count > 0) this.#fail('a second member "items"');
      this.#envelope.enterItems();
      this.#head = this.#parseEnvelope(']}');
      this.#setType(itemTypeOf(this.#head));
      this.#at = 'items';
      this.#expect = 'item-or-end';
    }
  }

  #aroundList(): void {
    const window = this.#window;
    const byte = window.bytes[window.start]!;
    if (this.#at === 'start' && byte === 0x7b) this.#at = 'envelope';
    else if (isSpace(byte)) window.take(1);
    else if (this.#at === 'after') this.#fail(`${quoteByte(byte)} after the end of the list`);
    else this.#fail(`a body that begins with ${JSON.stringify(this.#beginning())}`);
  }

  #beginning(): string {
    const { bytes, start, end } = this.#window;
    return excerpt(this.#redact(textOf(bytes, start, Math.min(end, start + MOST_QUOTED))));
  }

  #parseEnvelope(tail: string): JsonObject {
    try {
      return JSON.parse(this.#envelope.text() + tail) as JsonObject;
    } catch {
      this.#fail('broken JSON around the items');
    }
  }

  #tooLarge(what: string): never {
    this.#fail(`${what} of more than ${this.#maxObjectBytes} bytes; raise maxObjectBytes of the client`);
  }

  #fail(got: string): never {
    throw new DecodeError(
      `expected a list in JSON, got ${got} (${counted(this.#count, 'item')} came before)`,
      this.#count,
    );
  }
}
