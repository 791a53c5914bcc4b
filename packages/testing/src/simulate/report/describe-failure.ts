import type { Verdict } from '../check/judge-run.js';
import type { RunResult } from '../run/run-result.js';
import { describeFault, formatPlan } from '../run/simulated-fault.js';
import { storyText } from './story-text.js';
import { testToPaste } from './test-to-paste.js';

/** A failing run, to read and to repeat. */
export function describeFailure(run: RunResult, { failure, diff }: Verdict, runs: number): string {
  const { plan, steps } = run;
  const faults = plan.faults.length === 0 ? ['none'] : plan.faults.map(describeFault);
  return [
    `simulate: ${failure.message}`,
    `rule: ${failure.rule}; found in run ${runs}; faults: ${faults.join(', and ')}`,
    '',
    'The story:',
    storyText(run),
    ...(diff === undefined ? [] : ['', 'The difference (- without faults, + with them):', indent(diff)]),
    '',
    `Make this run again with simulate({ …, replay: '${formatPlan(plan)}' }), or paste this test:`,
    '',
    testToPaste(steps, plan, failure.message),
    '',
  ].join('\n');
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '  ');
}
