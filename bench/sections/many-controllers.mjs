import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { rounds } from '../lib/measure.mjs';
import { ScriptedInformerServer } from '../lib/scripted-informer-server.mjs';
import { goal, number, rowsOf, Series, table } from '../lib/series.mjs';

/** Controllers of one kind in one manager: how long they block the event loop, at start and with each change. */
export const manyControllers = {
  name: 'many-controllers',
  needs: ['riata'],
  async measure({ riata, node, folder, runs, counts }) {
    const { manyControllers: sizes, widgets: size } = counts;
    const home = join(folder, 'many-controllers');
    mkdirSync(home);
    const server = await ScriptedInformerServer.start({ folder: home, sizes: [size], events: size, node });
    const before = [join(riata, 'subjects/riata/many-controllers.mjs')];
    const env = { NODE_ENV: 'production' };
    const once = (count) => () => server.measure(node, { size, events: size, before, args: [String(count)], env });
    try {
      const found = await rounds(Object.fromEntries(sizes.map((count) => [count, once(count)])), runs);
      return { size, rows: rowsOf(found) };
    } finally {
      server.stop();
    }
  },
  describe({ size, rows }) {
    const most = Math.max(...Object.keys(rows).map(Number));
    const lines = Object.entries(rows).map(([count, row]) => [
      number(Number(count)),
      Series.of(row, 'syncBlockMs').text(1),
      Series.of(row, 'syncBlockCpuMs').text(1),
      Series.of(row, 'eventBlockMs').text(1),
      Series.of(row, 'eventBlockCpuMs').text(1),
      perReconcile(row, 'syncSeconds', 1_000_000 / (size * count)).text(1),
      perReconcile(row, 'eventUs', 1 / count).text(1),
      Series.of(row, 'peakMb').text(),
    ]);
    const head = ['controllers', 'longest block at start, ms', 'of it CPU ms', 'with the changes, ms', 'of it CPU ms'];
    const costs = ['CPU µs/reconcile at start', 'with the changes', 'peak RSS MB'];
    return {
      title: `Controllers of one kind, ${number(size)} Pods and as many changes`,
      parts: [table([...head, ...costs], lines)],
      charts: [],
      goals: [
        goal({
          what: `${number(most)} controllers of one kind, longest block of the event loop (CPU)`,
          ...{ got: Series.of(rows[most], 'blockCpuMs'), most: 30, unit: ' ms', digits: 1 },
        }),
      ],
    };
  },
};

function perReconcile(row, field, factor) {
  return Series.of(row, field).map((value) => value * factor);
}
