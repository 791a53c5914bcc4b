import { formatTime, parseTime } from 'riata/object';
import { goTimeQuote } from '../../status/go-quote.js';

const seconds = '2006-01-02T15:04:05Z07:00';
const micros = '2006-01-02T15:04:05.000000Z07:00';

/** The parts of both layouts, with what each takes from the text. */
const parts: readonly (readonly [element: string, takes: RegExp])[] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', /^\d\d/],
  ['-', /^-/],
  ['02', /^\d\d/],
  ['T', /^T/],
  ['15', /^\d\d/],
  [':', /^:/],
  ['04', /^\d\d/],
  [':', /^:/],
  ['05', /^\d\d/],
  ['.000000', /^\.\d{6}/],
  ['Z07:00', /^(?:Z|[+-]\d\d:\d\d)/],
];

/**
 * A `metav1.Time` as Go writes it again: UTC, whole seconds. Throws an `Error` with the words of Go's `time.Parse`.
 */
export function rewriteTime(text: string): string {
  check(text, seconds);
  return wholeSeconds(text);
}

/** A `metav1.MicroTime` as Go writes it again. It requires exactly six decimals. */
export function rewriteMicroTime(text: string): string {
  check(text, micros);
  return `${wholeSeconds(text).slice(0, -1)}${text.slice(19, 26)}Z`;
}

/** Without the fraction, which milliseconds of far times have no room for. */
function wholeSeconds(text: string): string {
  return formatTime(parseTime(text.replace(/[.,]\d+/, '')));
}

function check(text: string, layout: string): void {
  const numbers: string[] = [];
  let rest = text;
  for (const [element, takes] of parts) {
    const fraction = element === '.000000';
    if (fraction && layout === seconds) {
      // A fraction may follow the seconds even where the layout has none.
      rest = rest.replace(/^[.,]\d+/, '');
      continue;
    }
    const taken = takes.exec(rest)?.[0];
    if (taken === undefined)
      throw new Error(`${parsing(text)} as ${goTimeQuote(layout)}: cannot parse ${goTimeQuote(rest)} as "${element}"`);
    if (/^\d+$/.test(taken)) numbers.push(taken);
    rest = rest.slice(taken.length);
  }
  if (rest !== '') throw new Error(`${parsing(text)}: extra text: ${goTimeQuote(rest)}`);
  const [year, month, day, hour, minute, second] = numbers.map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const wrong =
    month < 1 || month > 12
      ? 'month'
      : hour > 23
        ? 'hour'
        : minute > 59
          ? 'minute'
          : second > 59
            ? 'second'
            : day < 1 || day > new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
              ? 'day'
              : undefined;
  if (wrong !== undefined) throw new Error(`${parsing(text)}: ${wrong} out of range`);
}

const parsing = (text: string) => `parsing time ${goTimeQuote(text)}`;
