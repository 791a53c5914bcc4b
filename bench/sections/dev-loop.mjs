import { join } from 'node:path';
import { measure, rounds } from '../lib/measure.mjs';
import { panel } from '../lib/panel.mjs';
import { goal, number, rowsOf, Series, table } from '../lib/series.mjs';

export const devLoop = {
  name: 'dev-loop',
  needs: ['cli'],
  // A round is fifty edits.
  rounds: (runs) => Math.min(runs, 3),
  async measure({ cli, node, runs, counts: { devObjects, devEdits } }) {
    const subject = (types) => measure(node, join(cli, 'subjects/dev-loop.mjs'), devObjects, devEdits, types);
    const cases = { 'riata dev, types off': () => subject('off'), 'riata dev, types checked': () => subject('hold') };
    return { objects: devObjects, edits: devEdits, rows: rowsOf(await rounds(cases, runs)) };
  },
  describe({ objects, edits, rows }) {
    const lines = Object.entries(rows).map(([name, row]) => [
      `\`${name}\``,
      ...['p50Ms', 'p95Ms', 'mostMs', 'startMs'].map((field) => Series.of(row, field).text()),
    ]);
    const about = `From a save in \`riata dev\` to the first reconcile by the new code, with ${number(objects)} objects in the cache; ${edits} edits a round. Every object is reconciled after each of them. No list or watch is repeated. With types checked, as by default, the new code waits until the compiler has found no errors; it is kept running between edits.`;
    return {
      title: 'Dev loop',
      parts: [about, table(['', 'p50, ms', 'p95, ms', 'longest, ms', 'start, ms'], lines)],
      charts: [
        {
          name: 'dev-loop',
          title: 'From a save to the next reconcile',
          panels: [panel('p95 of fifty edits, ms', rows, 'p95Ms', { limit: 300 })],
        },
      ],
      goals: Object.entries(rows).map(([name, row]) =>
        goal({ what: `save to reconcile, p95: ${name}`, got: Series.of(row, 'p95Ms'), most: 300, unit: ' ms' }),
      ),
    };
  },
};
