import { goQuote, goTimeQuote } from '../../status/go-quote.js';

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Minute, hour, day of the month, month, day of the week. */
const fields: readonly Bounds[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: days },
];

const descriptors = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];

/** The problem of a schedule, in the words of upstream's library; undefined if it is valid. */
export function scheduleProblem(schedule: string): string | undefined {
  let spec = schedule;
  const zoned = /^(?:CRON_)?TZ=(\S*)(.*)$/s.exec(schedule);
  if (zoned !== null) {
    const [, zone = '', rest = ''] = zoned;
    if (!rest.startsWith(' ')) {
      const to = schedule.indexOf(' ');
      return `invalid schedule format: runtime error: slice bounds out of range [:${to}]`;
    }
    if (!isTimeZone(zone)) return `provided bad location ${zone}: unknown time zone ${zone}`;
    spec = rest.trim();
  }
  if (spec.startsWith('@')) return descriptorProblem(spec);
  const given = spec.split(/\s+/).filter((part) => part !== '');
  if (given.length !== 5) return `expected exactly 5 fields, found ${given.length}: [${given.join(' ')}]`;
  for (const [index, bounds] of fields.entries()) {
    for (const expression of (given[index] as string).split(',').filter((part) => part !== '')) {
      const problem = rangeProblem(expression, bounds);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function descriptorProblem(text: string): string | undefined {
  if (descriptors.includes(text)) return undefined;
  if (!text.startsWith('@every ')) return `unrecognized descriptor: ${text}`;
  const duration = text.slice('@every '.length);
  if (/^[+-]?([0-9]*\.?[0-9]+(ns|us|µs|ms|s|m|h))+$|^[+-]?0$/.test(duration)) return undefined;
  return `failed to parse duration ${text}: time: invalid duration ${goTimeQuote(duration)}`;
}

function rangeProblem(expression: string, { min, max, names }: Bounds): string | undefined {
  const [range = '', step, ...moreSteps] = expression.split('/');
  const [low = '', high, ...more] = range.split('-');
  let [from, to] = [min, max];
  if (low !== '*' && low !== '?') {
    const first = numberFrom(low, names, min);
    if (typeof first === 'string') return first;
    if (more.length > 0) return `too many hyphens: ${expression}`;
    const last = high === undefined ? first : numberFrom(high, names, min);
    if (typeof last === 'string') return last;
    [from, to] = [first, last];
  }
  let by = 1;
  if (moreSteps.length > 0) return `too many slashes: ${expression}`;
  if (step !== undefined) {
    const parsed = numberFrom(step, [], 0);
    if (typeof parsed === 'string') return parsed;
    by = parsed;
    if (high === undefined) to = max;
  }
  if (from < min) return `beginning of range (${from}) below minimum (${min}): ${expression}`;
  if (to > max) return `end of range (${to}) above maximum (${max}): ${expression}`;
  if (from > to) return `beginning of range (${from}) beyond end of range (${to}): ${expression}`;
  return by === 0 ? `step of range should be a positive number: ${expression}` : undefined;
}

function numberFrom(text: string, names: readonly string[], first: number): number | string {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return named + first;
  if (!/^[+-]?[0-9]+$/.test(text)) {
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`;
  }
  const value = Number(text);
  return value < 0 ? `negative number (${value}) not allowed: ${text}` : value;
}

/** Whether there is such a time zone; Go takes the empty name for UTC. */
export function isTimeZone(zone: string): boolean {
  if (zone === '' || zone === 'UTC' || zone === 'Local') return true;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
