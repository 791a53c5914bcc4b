import type { JsonPatch, JsonPatchOperation } from '../../object/patch/json-patch.js';
import { escapeToken } from '../../object/patch/json-pointer.js';
import { fieldText, unsafeIntegers } from '../../object/scan/unsafe-numbers.js';
import { markLossy } from '../../object/value/lossy.js';
import type { AdmissionRequest } from './admission-review.js';

/**
 * The integers past 2^53 of an object: handlers see the nearest number, and a patch that has to repeat one of them
 * carries its original digits.
 */
export class LargeIntegers {
  /** By the number that each became. */
  readonly #digits = new Map<number, bigint>();
  /** Numbers that stand for several integers. */
  readonly #ambiguous = new Set<number>();
  /** JSON pointers to the lists that hold an ambiguous one, with a slash at the end. */
  readonly #ambiguousLists = new Set<string>();

  /** Looks for them in the text of a review, and marks its objects as lossy. Undefined if `request.object` has none. */
  static find(text: string, { object, oldObject }: AdmissionRequest): LargeIntegers | undefined {
    const found = unsafeIntegers(text).filter(({ path }) => path[0] === 'request');
    const within = (name: string) => found.filter(({ path }) => path[1] === name);
    const [own, old] = [within('object'), within('oldObject')];
    for (const [holder, integers] of [[object, own] as const, [oldObject, old] as const]) {
      if (integers.length === 0 || typeof holder !== 'object' || holder === null) continue;
      const paths = integers.map(({ path }) => fieldText(path.slice(2)));
      markLossy(holder, 'unsafe-integer', paths);
    }
    return own.length === 0 ? undefined : new LargeIntegers(own);
  }

  private constructor(found: ReturnType<typeof unsafeIntegers>) {
    for (const { digits } of found) {
      const [value, exact] = [Number(digits), BigInt(digits)];
      const known = this.#digits.get(value);
      if (known !== undefined && known !== exact) this.#ambiguous.add(value);
      this.#digits.set(value, exact);
    }
    for (const { path, digits } of found) {
      if (!this.#ambiguous.has(Number(digits))) continue;
      let pointer = '';
      for (const step of path.slice(2)) {
        if (typeof step === 'number') this.#ambiguousLists.add(`${pointer}/`);
        pointer += `/${escapeToken(String(step))}`;
      }
    }
  }

  /** The patch with the original digits, as bigints. Throws if an integer is ambiguous. */
  restore(patch: JsonPatch): JsonPatch {
    return patch.map((operation): JsonPatchOperation => {
      for (const list of this.#ambiguousLists) {
        if (operation.path.startsWith(list)) throw this.#refusal(list.slice(0, -1));
      }
      return 'value' in operation ? { ...operation, value: this.#exact(operation.value, operation.path) } : operation;
    });
  }

  #exact(value: unknown, path: string): unknown {
    if (typeof value === 'number') {
      if (this.#ambiguous.has(value)) throw this.#refusal(path);
      return this.#digits.get(value) ?? value;
    }
    if (Array.isArray(value)) return value.map((element, at) => this.#exact(element, `${path}/${at}`));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, this.#exact(member, `${path}/${escapeToken(key)}`)]),
    );
  }

  #refusal(path: string): Error {
    return new Error(
      `the change of ${path} cannot be sent: the object holds several integers past 2^53 that are the same ` +
        'JavaScript number; leave that field as it is, or set it to a bigint',
    );
  }
}
