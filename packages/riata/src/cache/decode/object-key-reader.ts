import { Buffer } from 'node:buffer';
import type { FramedObject } from '../../object/scan/decode-object.js';
import { asBuffer } from '../../object/scan/native-bytes.js';
import { closingBracketAhead } from '../../object/scan/object-scanner.js';
import { skipNested, skipScalar, stringEnd } from '../../object/scan/skip-value.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const SLASH = 0x2f;

const METADATA = Buffer.from('metadata');
const NAME = Buffer.from('name');
const NAMESPACE = Buffer.from('namespace');
const UID = Buffer.from('uid');
const MANAGED_FIELDS = Buffer.from('managedFields');

/** Longer keys are not expected: a name has at most 253 characters, a namespace 63. */
const LONGEST = 512;

/** The parts of an object's bytes that {@link ObjectKeyReader.read} needs. */
export type KeyFrame = Pick<FramedObject, 'bytes' | 'start' | 'end' | 'cutStart' | 'cutEnd'>;

/**
 * Reads the key of an object (`namespace/name`) from its bytes, as far as needed. The key is a guess: it is undefined, or even
 * wrong, for objects with another layout than servers use.
 */
export class ObjectKeyReader {
  readonly #key = Buffer.allocUnsafeSlow(LONGEST);

  read({ bytes, start, end, cutStart, cutEnd }: KeyFrame): string | undefined {
    let i = start + 1;
    while (bytes[i] === QUOTE) {
      const after = stringEnd(bytes, i, end);
      if (after < 0 || bytes[after] !== COLON) return undefined;
      if (matches(bytes, i, after, METADATA)) {
        return bytes[after + 1] === OPEN_BRACE ? this.#readIn(bytes, after + 2, end, cutStart, cutEnd) : undefined;
      }
      i = skipValue(bytes, after + 1, end);
      if (i < 0 || bytes[i] !== COMMA) return undefined;
      i++;
    }
    return undefined;
  }

  /** Of the members of `metadata`, from the first one at `from` on. No server puts `namespace` after `uid`. */
  #readIn(bytes: Uint8Array, from: number, end: number, cutStart: number, cutEnd: number): string | undefined {
    let name = 0;
    let nameEnd = 0;
    let namespace = 0;
    let namespaceEnd = 0;
    let i = from === cutStart ? cutEnd : from;
    while (bytes[i] === QUOTE && (name === 0 || namespace === 0)) {
      const after = stringEnd(bytes, i, end);
      if (after < 0 || bytes[after] !== COLON) return undefined;
      const next = matches(bytes, i, after, MANAGED_FIELDS)
        ? skipManagedFields(bytes, after + 1, end)
        : skipValue(bytes, after + 1, end);
      if (next < 0) return undefined;
      if (matches(bytes, i, after, NAME)) {
        name = after + 2;
        nameEnd = next - 1;
      } else if (matches(bytes, i, after, NAMESPACE)) {
        namespace = after + 2;
        namespaceEnd = next - 1;
      } else if (name > 0 && matches(bytes, i, after, UID)) break;
      i = next === cutStart ? cutEnd : next;
      if (bytes[i] !== COMMA) break;
      i++;
      if (i === cutStart) i = cutEnd;
    }
    const length = namespaceEnd - namespace + 1 + nameEnd - name;
    if (name === 0 || length > LONGEST) return undefined;
    const key = this.#key;
    let to = 0;
    for (let k = namespace; k < namespaceEnd; k++) key[to++] = bytes[k]!;
    if (to > 0) key[to++] = SLASH;
    for (let k = name; k < nameEnd; k++) {
      if (bytes[k] === BACKSLASH) return undefined;
      key[to++] = bytes[k]!;
    }
    return asBuffer(key).latin1Slice(0, to);
  }
}

/** Of objects that were not scanned; scanned ones come without them. */
function skipManagedFields(bytes: Uint8Array, from: number, end: number): number {
  const close = bytes[from] === OPEN_BRACKET ? closingBracketAhead(bytes, from, end) : -1;
  return close < 0 ? skipValue(bytes, from, end) : close + 1;
}

function skipValue(bytes: Uint8Array, from: number, end: number): number {
  return (bytes[from]! | 0x20) === OPEN_BRACE ? skipNested(bytes, from, end, 0, 0) : skipScalar(bytes, from, end);
}

/** Whether the string from `open` up to `after`, with its quotes, is this word. */
function matches(bytes: Uint8Array, open: number, after: number, word: Uint8Array): boolean {
  if (after - open !== word.length + 2) return false;
  for (let k = 0; k < word.length; k++) if (bytes[open + 1 + k] !== word[k]) return false;
  return true;
}
