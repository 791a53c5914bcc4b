import type { Verdict } from '../check/judge-run.js';
import { describeChange } from '../run/field-change.js';
import type { RunResult } from '../run/run-result.js';
import { describeFault, formatPlan } from '../run/simulated-fault.js';
import { storyText } from './story-text.js';
import { testToPaste } from './test-to-paste.js';

/** A failing run, to read and to repeat. */
export function describeFailure(run: RunResult, { failure, diff }: Verdict, runs: number): string {
  const { plan } = run;
  const changed = plan.change?.fields.map(describeChange).join(', ');
  const faults = plan.faults.length === 0 ? ['none'] : plan.faults.map(describeFault);
  return [
    `simulate: ${failure.message}`,
    `rule: ${failure.rule}; found in run ${runs}; faults: ${faults.join(', and ')}`,
    ...(changed === undefined ? [] : [`changed and undone: ${changed}`]),
    '',
    'The story:',
    storyText(run),
    ...(diff === undefined ? [] : ['', `The difference (${signs(failure.rule)}):`, indent(diff)]),
    '',
    `Make this run again with simulate({ …, replay: '${formatPlan(plan)}' }), or paste this test:`,
    '',
    testToPaste(run, failure.message),
    '',
  ].join('\n');
}

function signs(rule: string): string {
  return rule === 'undone change' ? '- before the change, + after it was undone' : '- without faults, + with them';
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '  ');
}
