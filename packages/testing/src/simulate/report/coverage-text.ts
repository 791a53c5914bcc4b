import { faultKinds } from '../run/simulated-fault.js';
import { conditionBranches } from './condition-branches.js';
import type { Coverage } from './coverage.js';

/** What a simulation has reached, to read in a terminal. */
export function coverageText(coverage: Coverage): string {
  const { runs, faults, writes, events, conditions, changes, refused } = coverage;
  const counted = faultKinds.filter((kind) => faults.has(kind)).map((kind) => `${kind} ${faults.get(kind)}`);
  const others = faultKinds.filter((kind) => !faults.has(kind));
  const section = (title: string, all: ReadonlyMap<string, ReadonlySet<string>>) =>
    all.size === 0
      ? []
      : [title, ...[...all].map(([name, reached]) => `  ${name}: ${[...reached].join(', ') || 'no fault'}`)];
  const branches = [...conditions.keys()].map((name) => {
    const each = conditionBranches(coverage, name).map(({ value, reasons, isReached }) =>
      isReached ? `${value}${reasons.length === 0 ? '' : ` (${reasons.join(', ')})`}` : `never ${value}`,
    );
    return `  ${name}: ${each.join(', ')}`;
  });
  return [
    `${runs} runs; faults: ${counted.join(', ') || 'none'}`,
    ...(others.length === 0 ? [] : [`faults that did not happen: ${others.join(', ')}`]),
    ...section('writes, with the faults that hit them', writes),
    ...section('events, with the faults that hit them', events),
    ...(branches.length === 0 ? [] : ['conditions, with their values and reasons', ...branches]),
    ...section('changes that were made and undone, with the faults that happened meanwhile', changes),
    ...(refused.size === 0 ? [] : ['changes that the server refused']),
    ...[...refused].map(([name, why]) => `  ${name}: ${why}`),
  ].join('\n');
}
