import { goJson, type Json } from 'riata/object';

/** A value as Go prints it into a cell: plain ones as they are, others as JSON with sorted members. */
export function goText(value: Json): string {
  if (value === null) return '<no value>';
  if (typeof value === 'number') return numberText(value);
  return typeof value === 'object' ? goJson(value) : String(value);
}

/** Go has two digits in an exponent, and one already below 1e-4. */
function numberText(value: number): string {
  const size = Math.abs(value);
  const text = size !== 0 && size < 1e-4 ? value.toExponential() : String(value);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}
