/**
 * The JSON text of a value to be sent. Throws a `TypeError` that names the path for values that would change silently:
 * values without JSON form (NaN, infinities, functions, `Date` and other class instances, an undefined element of a
 * list), and integers past 2^53, which may have been rounded before. Pass these as `bigint` to write them in full. A
 * field that is undefined is left out.
 */
export function encodeJson(value: unknown): string {
  return isOrdinary(value, 0) ? JSON.stringify(value) : (encode(value, []) ?? 'null');
}

/** Whether `JSON.stringify` writes just what is meant; anything unusual is looked at piece by piece. */
function isOrdinary(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value) && !isInexact(value);
    case 'undefined':
      return depth > 0;
    case 'object':
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (depth > 100) return false;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      // It would become null, which a server takes for an empty text, or a zero.
      if (value[at] === undefined || !isOrdinary(value[at], depth + 1)) return false;
    }
    return true;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  // If a program has extended the prototype, this visits more than it needs to.
  for (const key in value) if (!isOrdinary((value as Record<string, unknown>)[key], depth + 1)) return false;
  return true;
}

/** Undefined for what is left out of an object, as `JSON.stringify` does. */
function encode(value: unknown, path: (string | number)[]): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'number':
      if (!Number.isFinite(value)) throw refusal(path, String(value));
      if (isInexact(value)) throw inexact(path, value);
      return JSON.stringify(value);
    case 'bigint':
      return value.toString();
    case 'undefined':
      return undefined;
    case 'object':
      return value === null ? 'null' : encodeObject(value, path);
    default:
      throw refusal(path, `a ${typeof value}`);
  }
}

function encodeObject(value: object, path: (string | number)[]): string {
  if (path.length > 2_000) throw refusal(path.slice(0, 10), 'a value that refers to itself');
  const parts: string[] = [];
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) {
      path.push(index);
      const text = encode(element, path);
      if (text === undefined) throw refusal(path, 'an element that is undefined; leave it out');
      parts.push(text);
      path.pop();
    }
    return `[${parts.join(',')}]`;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw refusal(path, `an instance of ${value.constructor.name}`);
  }
  for (const [key, member] of Object.entries(value)) {
    path.push(key);
    const text = encode(member, path);
    path.pop();
    if (text !== undefined) parts.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${parts.join(',')}}`;
}

/** From 1e21 on a number is written with an exponent, and read as the double that it is. */
function isInexact(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21;
}

function inexact(path: readonly (string | number)[], value: number): TypeError {
  return new TypeError(
    `${placeOf(path)}: expected an integer up to 2^53, got ${value}, which may have been rounded; give its exact value ` +
      `as a bigint, such as ${value}n, or leave the field out by a patch or applyFields`,
  );
}

function refusal(path: readonly (string | number)[], what: string): TypeError {
  const hint = what.startsWith('an instance of') ? '; timestamps are RFC 3339 strings' : '';
  return new TypeError(`${placeOf(path)}: expected plain JSON, got ${what}${hint}`);
}

function placeOf(path: readonly (string | number)[]): string {
  return path.length === 0 ? 'the value' : path.join('.');
}
