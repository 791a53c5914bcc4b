import { describeError } from './describe-error.js';

const deepest = 8;
const longest = 4096;
const bareWord = /^[\w.\-/:@+%*]+$/;
// Control characters would break the line apart or reach the terminal as commands.
const unprintable = /[\p{Cc}\u2028\u2029]/gu;

/** Text on one line: control characters are written as escapes. */
export function formatText(text: string): string {
  return text.replace(unprintable, (char) =>
    char === '\n' ? '\\n' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Any value for a line of `key=value`: words bare, other text in quotes, objects as JSON, errors with their causes.
 * Circular references, getters that throw, BigInts and very long values are shown as far as they can be.
 */
export function formatValue(value: unknown): string {
  const text = render(value);
  return text.length <= longest ? text : `${text.slice(0, longest)}…(${text.length - longest} more)`;
}

function render(value: unknown): string {
  if (typeof value === 'string') return bareWord.test(value) ? value : quote(value);
  const plain = plainOf(value, []);
  if (typeof plain === 'string') return value instanceof Date ? plain : quote(plain);
  return formatText(JSON.stringify(plain) ?? 'undefined');
}

function quote(text: string): string {
  return formatText(JSON.stringify(text));
}

/** A copy that JSON can write; `above` are the objects around this value. */
function plainOf(value: unknown, above: readonly object[]): unknown {
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'function') return `[function ${value.name || 'anonymous'}]`;
  if (typeof value !== 'object' || value === null) return value;
  if (above.includes(value)) return '[circular]';
  if (above.length === deepest) return '[…]';
  try {
    return plainObject(value, [...above, value]);
  } catch (error) {
    return `[unreadable: ${describeError(error)}]`;
  }
}

function plainObject(value: object, above: readonly object[]): unknown {
  if (value instanceof Error) return describeError(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (value instanceof Map)
    return plainRecord(
      [...value].map(([key, item]) => [String(key), () => item]),
      above,
    );
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value) || value instanceof Set) return Array.from(value, (item) => plainOf(item, above));
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return plainOf(toJSON.call(value), above);
  const record = value as Record<string, unknown>;
  return plainRecord(
    Object.keys(record).map((key) => [key, () => record[key]]),
    above,
  );
}

function plainRecord(entries: readonly (readonly [string, () => unknown])[], above: readonly object[]): object {
  // No prototype: a key named __proto__ is data.
  const result: Record<string, unknown> = Object.create(null);
  for (const [key, read] of entries) {
    try {
      result[key] = plainOf(read(), above);
    } catch (error) {
      result[key] = `[unreadable: ${describeError(error)}]`;
    }
  }
  return result;
}
