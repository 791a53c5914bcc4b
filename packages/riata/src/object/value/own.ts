/**
 * Reads and writes of own properties only. A key is data whatever its name: `__proto__` must neither be looked up on
 * nor set the prototype, and `constructor` must not find `Object`.
 */
export type Bag = { [key: string]: unknown };

/** The own property, or `undefined`. */
export function getOwn(bag: object, key: string): unknown {
  return Object.hasOwn(bag, key) ? (bag as Bag)[key] : undefined;
}

/** Sets an own data property. */
export function setOwn(bag: object, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(bag, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    (bag as Bag)[key] = value;
  }
}

/** A shallow copy with all own properties as plain data. */
export function copyOwn(bag: object): Bag {
  // Spread defines own properties, so `__proto__` stays data; assignment would not.
  return { ...(bag as Bag) };
}

/**
 * True when a program put enumerable properties on `Object.prototype`. The fast walks (`for … in` without a check per
 * key) are correct only when this is false, so they check once and leave the rest to the walks over `Object.keys`.
 */
export function polluted(): boolean {
  for (const _ in Object.prototype) return true;
  return false;
}

/**
 * How deep the recursive walks of this folder go before they continue with a stack of their own: deep enough for every
 * real object, far from the engine's limit even when the caller is deep already. An API server takes 10,000 levels.
 */
export const recursionLimit = 200;

/** Beyond this an object is taken to refer to itself. */
export const depthLimit = 20_000;

export function tooDeep(what: string): TypeError {
  return new TypeError(
    `${what}: the value is nested deeper than ${depthLimit} levels or refers to itself; only JSON values are accepted`,
  );
}

/** Refuses what JSON has no word for, before it turns silently into `{}`. Objects of other realms pass. */
export function assertPlain(value: object, what: string): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null) return;
  const found = (prototype as { constructor?: { name?: unknown } }).constructor?.name;
  throw new TypeError(
    `${what}: expected plain JSON, found an instance of ${typeof found === 'string' && found !== '' ? found : 'a class'}; ` +
      'objects hold strings, numbers, booleans, null, arrays and plain objects (timestamps are RFC 3339 strings)',
  );
}
