/**
 * The JSON text of a value to be sent. Integers past 2^53 can be given as `bigint` and are written in full. Throws a
 * `TypeError` that names the path for what JSON has no word for and would change silently: NaN, infinities, functions,
 * `Date` and other class instances.
 */
export function encodeJson(value: unknown): string {
  return encode(value, []) ?? 'null';
}

/** Undefined for what is left out of an object, as `JSON.stringify` does. */
function encode(value: unknown, path: (string | number)[]): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value);
    case 'number':
      if (Number.isFinite(value)) return JSON.stringify(value);
      throw refusal(path, String(value));
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
      parts.push(encode(element, path) ?? 'null');
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

function refusal(path: readonly (string | number)[], what: string): TypeError {
  const at = path.length === 0 ? 'the value' : path.join('.');
  return new TypeError(`${at}: expected plain JSON, got ${what}; timestamps are RFC 3339 strings`);
}
