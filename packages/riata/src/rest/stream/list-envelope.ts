import { textOf } from '../../object/scan/native-bytes.js';
import { isSpace } from '../../object/scan/object-scanner.js';

/**
 * What stands around the items of a list: it gathers the bytes of the top-level object, and says where an array `items`
 * begins. Everything but the items themselves ends up in `text()`, as valid JSON if the body was.
 */
export class ListEnvelope {
  /** `items`: the last byte read opens the array of items. `end`: the top-level object is closed. */
  at: 'members' | 'items' | 'end' = 'members';

  #bytes = new Uint8Array(1024);
  #length = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Start of the key being read in `#bytes`, or -1 outside keys. */
  #keyStart = -1;
  #expectKey = false;
  /** `key`: the key `items` has been read; `colon`: so has its colon. */
  #itemsKey: 'no' | 'key' | 'colon' = 'no';

  /** Reads until the items begin or the bytes end; gives how many bytes it took. */
  read(bytes: Uint8Array, start: number, end: number): number {
    let i = start;
    while (i < end && this.at === 'members') {
      const byte = bytes[i++]!;
      if (this.#length === this.#bytes.length) this.#grow();
      this.#bytes[this.#length++] = byte;
      if (this.#inString) this.#stringByte(byte);
      else if (!isSpace(byte)) this.#token(byte);
    }
    return i - start;
  }

  /** Goes on after the items: the next byte read is the bracket that closes them. */
  enterItems(): void {
    this.at = 'members';
  }

  /** Bytes gathered so far. */
  get length(): number {
    return this.#length;
  }

  text(): string {
    return textOf(this.#bytes, 0, this.#length);
  }

  #stringByte(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === 0x5c) this.#escaped = true;
    else if (byte === 0x22) {
      this.#inString = false;
      if (this.#keyStart < 0) return;
      if (this.#isItems()) this.#itemsKey = 'key';
      this.#keyStart = -1;
    }
  }

  #token(byte: number): void {
    const itemsKey = this.#itemsKey;
    this.#itemsKey = 'no';
    switch (byte) {
      case 0x22:
        this.#inString = true;
        if (this.#depth === 1 && this.#expectKey) this.#keyStart = this.#length - 1;
        this.#expectKey = false;
        break;
      case 0x3a:
        if (itemsKey === 'key') this.#itemsKey = 'colon';
        break;
      case 0x2c:
        this.#expectKey = this.#depth === 1;
        break;
      case 0x7b:
      case 0x5b:
        this.#depth++;
        this.#expectKey = this.#depth === 1;
        if (itemsKey === 'colon' && byte === 0x5b) this.at = 'items';
        break;
      case 0x7d:
      case 0x5d:
        if (--this.#depth <= 0) this.at = 'end';
        break;
      default:
    }
  }

  /** The key may be spelled with escapes. */
  #isItems(): boolean {
    const text = textOf(this.#bytes, this.#keyStart, this.#length);
    if (text === '"items"') return true;
    if (!text.includes('\\')) return false;
    try {
      return JSON.parse(text) === 'items';
    } catch {
      return false;
    }
  }

  #grow(): void {
    const grown = new Uint8Array(this.#bytes.length * 2);
    grown.set(this.#bytes);
    this.#bytes = grown;
  }
}
