import { faultKinds } from '../run/simulated-fault.js';
import type { Coverage } from './coverage.js';

/** What a simulation has reached, to read in a terminal. */
export function coverageText({ runs, faults, writes, events, conditions }: Coverage): string {
  const counted = faultKinds.filter((kind) => faults.has(kind)).map((kind) => `${kind} ${faults.get(kind)}`);
  const section = (title: string, all: ReadonlyMap<string, ReadonlySet<string>>) =>
    all.size === 0
      ? []
      : [title, ...[...all].map(([name, reached]) => `  ${name}: ${[...reached].join(', ') || 'no fault'}`)];
  return [
    `${runs} runs; faults: ${counted.join(', ') || 'none'}`,
    ...section('writes, with the faults that hit them', writes),
    ...section('events, with the faults that hit them', events),
    ...section('conditions, with their values', conditions),
  ].join('\n');
}
