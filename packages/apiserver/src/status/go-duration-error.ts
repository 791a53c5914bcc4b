import { goTimeQuote } from './go-quote.js';

const units = ['ns', 'us', 'µs', 'μs', 'ms', 's', 'm', 'h'];

/** What Go says about a text that is no duration. */
export function goDurationError(text: string): string {
  const shown = goTimeQuote(text);
  let rest = text.replace(/^[+-]/, '');
  if (rest === '') return `time: invalid duration ${shown}`;
  while (rest !== '') {
    const number = /^\d*\.?\d*/.exec(rest)?.[0] ?? '';
    if (!/\d/.test(number)) break;
    rest = rest.slice(number.length);
    const unit = /^[^\d.]*/.exec(rest)?.[0] ?? '';
    if (unit === '') return `time: missing unit in duration ${shown}`;
    if (!units.includes(unit)) return `time: unknown unit ${goTimeQuote(unit)} in duration ${shown}`;
    rest = rest.slice(unit.length);
  }
  return `time: invalid duration ${shown}`;
}
