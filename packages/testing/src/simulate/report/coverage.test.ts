import { expect, test } from 'vitest';
import { SimulationReport } from '../simulation-report.js';

const report = new SimulationReport();
report.add({
  plan: {
    seed: 1,
    faults: [{ kind: 'late', at: 1 }],
    change: { step: 1, fields: [{ path: '/spec/a', value: '<b>' }] },
  },
  ...{ steps: 3, webhookCalls: 0, happened: [{ kind: 'late', at: 1 }], changed: { kind: 'Site', at: noPoint() } },
  writes: [{ verb: 'patch', object: 'ConfigMap a', controller: 'x', step: 1, isConditional: false }],
  events: [{ type: 'ADDED', object: 'Site a' }],
  conditions: new Set(['Site Ready=False=NoImage', 'Site Ready=False=NoPort', 'Site Stalled=Unknown=']),
});
report.refused.set('Site spec.name = ""', 'should be at least 1 chars long');

function noPoint() {
  return { write: 0, event: 0, step: 1, webhook: 0 };
}

test('what was reached and what was not, as text', () => {
  expect(String(report).split('\n')).toEqual([
    '1 runs; faults: late 1',
    expect.stringMatching(/^faults that did not happen: crash-before, .*, failed-webhook$/),
    'writes, with the faults that hit them',
    '  patch ConfigMap a: no fault',
    'events, with the faults that hit them',
    '  ADDED Site a: late',
    'conditions, with their values and reasons',
    '  Site Ready: False (NoImage, NoPort), never True',
    '  Site Stalled: Unknown, never True, never False',
    'changes that were made and undone, with the faults that happened meanwhile',
    '  Site spec.a = "<b>": late',
    'changes that the server refused',
    '  Site spec.name = "": should be at least 1 chars long',
  ]);
});

test('the same as one page, without references to others', () => {
  const page = report.html();
  for (const part of [
    '<th scope="row">Site Ready</th><td>False</td><td>NoImage, NoPort</td>',
    '<th scope="row">Site Ready</th><td>True</td><td class="miss">never had this value</td>',
    '<th scope="row">Site spec.a = &quot;&lt;b&gt;&quot;</th><td class="hit">✓</td>',
    '<th scope="row">Site spec.name = &quot;&quot;</th><td>should be at least 1 chars long</td>',
  ])
    expect(page).toContain(part);
  expect(page).not.toMatch(/<(script|link|img)|https?:/);
});
