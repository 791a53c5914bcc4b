import { isJsonObject, type Json } from 'riata/object';
import { writeJson } from '../http/body/write-json.js';

/** A value as Go prints it into a cell: plain ones as they are, others as JSON with sorted members. */
export function goText(value: Json): string {
  if (value === null) return '<no value>';
  if (typeof value === 'number') return numberText(value);
  return typeof value === 'object' ? sortedJson(value) : String(value);
}

/** Go has two digits in an exponent, and one already below 1e-4. */
function numberText(value: number): string {
  const size = Math.abs(value);
  const text = size !== 0 && size < 1e-4 ? value.toExponential() : String(value);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}

function sortedJson(value: Json): string {
  // Go escapes what would be markup.
  return writeJson(sorted(value)).replace(/[<>&\u2028\u2029]/g, escaped);
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, inner]) => [name, sorted(inner as Json)] as const);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
