import { Buffer } from 'node:buffer';
import { textOf } from '../scan/decode-object.js';
import { freeze } from '../value/freeze.js';

/** Shorter parts are looked through as fast as they are compared. */
const LONG = 256;
/** Where the texts of parts up to this size are put to be compared with bytes; larger ones are made strings. */
const compared = Buffer.allocUnsafeSlow(16_384);

/** A part whose text needs more than one byte per character: its UTF-8 bytes, each as one character. */
class WideText {
  readonly bytes: string;

  constructor(text: string) {
    this.bytes = Buffer.from(text, 'utf8').toString('latin1');
  }
}

/** The text of one member of an object, in one byte per character whatever it holds. */
type PartText = string | WideText;

/**
 * A part that was read, or that two versions of an object have in common. What came out lives as long as somebody holds
 * it, and at least to the end of the turn.
 */
class SharedPart {
  readonly text: PartText;
  value: WeakRef<object> | undefined;

  constructor(text: PartText) {
    this.text = text;
  }
}

/** The members of a raw object that are not parsed yet, in the order of its accessors. */
export type RawParts = (PartText | SharedPart)[];

/** Gives back what it is called with, so that a subclass puts its private fields on that. */
export class Stamped {
  constructor(object: object) {
    // biome-ignore lint/correctness/noConstructorReturn: the point of it
    return object;
  }
}

/**
 * The parts as a private field of the facade: nobody sees it (no key, no symbol, not in a comparison), freezing leaves it
 * alone, and it costs a word where an entry of a WeakMap costs fifty bytes and time in every garbage collection.
 */
class Facade extends Stamped {
  #parts: RawParts;
  /** The metadata, if the object holds them; else what was asked of them. */
  #identity: Identity | undefined;

  private constructor(object: object, parts: RawParts, identity: Identity | undefined) {
    super(object);
    this.#parts = parts;
    this.#identity = identity;
  }

  static stamp(object: object, parts: RawParts, identity: Identity | undefined): void {
    new Facade(object, parts, identity);
  }

  static partsOf(object: object): RawParts | undefined {
    return #parts in object ? object.#parts : undefined;
  }

  static identityOf(object: Identifiable): Identity | undefined {
    if (!(#parts in object)) return object.metadata;
    if (object.#identity === undefined && object.metadata) {
      const { namespace, name, uid, resourceVersion } = object.metadata;
      object.#identity = { namespace, name, uid, resourceVersion };
    }
    return object.#identity;
  }
}

/** Which object it is, and which version of it. */
export interface Identity {
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

interface Identifiable {
  readonly metadata?: Identity;
}

/**
 * The same as its metadata says; undefined if it has none. A raw object that was asked before need not parse its metadata
 * for it again: ask while they are at hand.
 */
export function identityOf(object: Identifiable): Identity | undefined {
  return Facade.identityOf(object);
}

/**
 * Makes `object` the facade of `parts`: the getters of {@link partDescriptor} work on it from then on. `metadata` are its own, if
 * they are no part.
 */
export function stampParts(object: object, parts: RawParts, metadata: Identity | undefined): void {
  Facade.stamp(object, parts, metadata);
}

/** The parts of a raw object; undefined for any other. */
export function rawPartsOf(object: object): RawParts | undefined {
  return Facade.partsOf(object);
}

/** What characters beyond Latin-1 look like. On text of one byte per character the search ends before it begins. */
const wide = /[^\0-\xff]/;

/** The text of a part, to be kept. */
export function partText(text: string): PartText {
  return wide.test(text) ? new WideText(text) : text;
}

const descriptors: PropertyDescriptor[] = [];

/** The accessor of the part at `index`: one for all objects, so that objects with the same members have the same shape. */
export function partDescriptor(index: number): PropertyDescriptor {
  let descriptor = descriptors[index];
  if (descriptor === undefined) {
    const get = function (this: object) {
      return readPart(this, index);
    };
    descriptor = { get, enumerable: true, configurable: true };
    descriptors[index] = descriptor;
  }
  return descriptor;
}

function readPart(object: object, index: number): unknown {
  // The accessor may have been inherited: `Object.create(pod)`.
  let owner: object | null = object;
  let parts = rawPartsOf(owner);
  while (parts === undefined) {
    owner = Object.getPrototypeOf(owner) as object | null;
    if (owner === null) throw new TypeError('a member of a raw object was read on another object: copy it by clone()');
    parts = rawPartsOf(owner);
  }
  let part = parts[index]!;
  const known = part instanceof SharedPart ? part.value?.deref() : undefined;
  if (known !== undefined) return known;
  const value = parse(part instanceof SharedPart ? part.text : part);
  // Strings have no identity to keep.
  if (typeof value !== 'object' || value === null) return value;
  if (!(part instanceof SharedPart)) {
    part = new SharedPart(part);
    parts[index] = part;
  }
  part.value = new WeakRef(value);
  return value;
}

function parse(text: PartText): unknown {
  try {
    return freeze(JSON.parse(plainText(text)));
  } catch {
    // The parser's own message would quote the object, which may be a Secret.
    throw new SyntaxError('a member of an object that a server has sent is broken JSON');
  }
}

function plainText(text: PartText): string {
  return typeof text === 'string' ? text : Buffer.from(text.bytes, 'latin1').toString('utf8');
}

/**
 * The part `before[at]`, to be shared, and where it ends, if its text begins at `from`: told by a native comparison, without
 * looking for its end. Undefined if it does not, or where a comparison does not pay.
 */
export function partAt(
  before: RawParts,
  at: number,
  bytes: Uint8Array,
  from: number,
  end: number,
): { readonly part: SharedPart; readonly to: number } | undefined {
  const known = before[at];
  const text = known instanceof SharedPart ? known.text : known;
  if (typeof text !== 'string' || text.length < LONG) return undefined;
  const to = from + text.length;
  if (to >= end || (bytes[to] !== 0x2c && bytes[to] !== 0x7d)) return undefined;
  if (!isTextAt(text, bytes, from, to)) return undefined;
  const part = known instanceof SharedPart ? known : new SharedPart(text);
  before[at] = part;
  return { part, to };
}

/** Whether `bytes[from, to)` is the text, which has as many characters: then it is ASCII. */
function isTextAt(text: string, bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from > compared.length) return textOf(bytes, from, to) === text;
  // No string is made of what is the same most of the time.
  return compared.write(text, 'utf8') === to - from && compared.compare(bytes, from, to, 0, to - from) === 0;
}

/** Makes `before[at]` and `after[index]` one if they have the same JSON text (a native comparison); else false. */
export function joinPart(before: RawParts, at: number, after: RawParts, index: number): boolean {
  const a = before[at]!;
  const b = after[index]!;
  const left = a instanceof SharedPart ? a.text : a;
  const right = b instanceof SharedPart ? b.text : b;
  if (typeof left === 'string' || typeof right === 'string' ? left !== right : left.bytes !== right.bytes) return false;
  const joined = a instanceof SharedPart ? a : b instanceof SharedPart ? b : new SharedPart(left);
  before[at] = joined;
  after[index] = joined;
  return true;
}
