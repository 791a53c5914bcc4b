import { expect, test } from 'vitest';
import { History } from '../run/history.js';
import type { RunResult } from '../run/run-result.js';
import { judgeRun } from './judge-run.js';

const page = 'ConfigMap default/page';

/** A run in which a controller deletes a page, or the garbage collector does. */
const run = (deletedAt: number | undefined, removedAt: number | undefined): RunResult => ({
  ...{ plan: { seed: 1, faults: [] }, history: new History(), steps: [], told: 2, advances: [], events: [] },
  writes: deletedAt === undefined ? [] : [deletion(deletedAt)],
  ...{ webhookCalls: 0, reconciles: 1, happened: [], states: new Map(), conditions: new Set() },
  created: new Set([page]),
  removed: new Map(removedAt === undefined ? [] : [[page, removedAt]]),
});

function deletion(step: number) {
  return { verb: 'delete', object: page, controller: 'pages', step, isConditional: false, code: 200 };
}

const ruleOf = (result: RunResult, reference: RunResult) =>
  judgeRun(result, { except: [], reference, textsOf: () => new Map() })?.failure.rule;

test.each([
  ['is kept without faults', run(undefined, undefined), 'no foreign deletion'],
  ['is removed later without faults', run(undefined, 3), 'no foreign deletion'],
  ['is deleted in the same step without faults', run(2, 2), undefined],
  ['is removed by the garbage collector without faults', run(undefined, 2), undefined],
])('a controller deletes an object that %s', (_, reference, rule) => {
  expect(ruleOf(run(2, 2), reference)).toBe(rule);
});
