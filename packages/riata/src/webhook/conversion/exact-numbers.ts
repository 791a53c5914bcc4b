import { encodeJson } from '../../object/encode-json.js';
import { isJsonObject } from '../../object/json.js';
import type { JsonText } from '../../object/version/version-side.js';

/** A string, or a number that starts or follows on something else than a string. */
const stringsAndNumbers = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/gs;
const manyDigits = /\d{16}/;

/**
 * Reads and writes JSON without rounding integers past 2^53. Each such integer is read as the nearest double that no
 * other one of this text has, and is written as it was read: a function that passes it on does not change it.
 */
export class ExactNumbers implements JsonText {
  readonly #doubles = new Map<string, number>();
  readonly #texts = new Map<number, string>();

  parse(text: string): unknown {
    if (!manyDigits.test(text)) return JSON.parse(text);
    const replaced = text.replace(stringsAndNumbers, (token) => {
      const isSafe = token.startsWith('"') || /[.eE]/.test(token) || Number.isSafeInteger(Number(token));
      // In this form it is read as that very double.
      return isSafe ? token : this.#doubleOf(token).toExponential();
    });
    return JSON.parse(replaced);
  }

  /** Throws a `TypeError` for what has no JSON form, and for integers past 2^53 that were computed. */
  stringify(value: unknown): string {
    return encodeJson(this.#texts.size === 0 ? value : this.#exact(value));
  }

  #doubleOf(text: string): number {
    const known = this.#doubles.get(text);
    if (known !== undefined) return known;
    let double = Number(text);
    while (this.#texts.has(double)) double = nextAway(double);
    this.#doubles.set(text, double);
    this.#texts.set(double, text);
    return double;
  }

  #exact(value: unknown): unknown {
    if (typeof value === 'number') {
      const text = this.#texts.get(value);
      return text === undefined ? value : BigInt(text);
    }
    if (Array.isArray(value)) return value.map((element) => this.#exact(element));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.#exact(member)]));
  }
}

/** The next double away from zero. */
function nextAway(double: number): number {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, double);
  bits.setBigInt64(0, bits.getBigInt64(0) + 1n);
  return bits.getFloat64(0);
}
