import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rounds } from '../lib/measure.mjs';
import { number, rowOf, Series, table } from '../lib/series.mjs';

const script = fileURLToPath(new URL('../micro/store.mjs', import.meta.url));

/** Stores and queues of changes alone, in a process of its own: `micro/store.mjs`. */
export const store = {
  name: 'store',
  async measure({ node, runs, counts: { stored } }) {
    const once = async () => {
      const { stdout } = await promisify(execFile)(node, ['--expose-gc', script, String(stored), '--json']);
      return JSON.parse(stdout);
    };
    const { store: reports } = await rounds({ store: once }, runs);
    const row = (name) => rowOf(reports.flatMap(({ us }) => us[name].map((each) => ({ us: each, rate: 1 / each }))));
    return {
      stored,
      heapBytes: rowOf(reports.map(({ heap }) => ({ heap }))).heap,
      rows: Object.fromEntries(Object.keys(reports[0].us).map((name) => [name, row(name)])),
    };
  },
  describe({ stored, heapBytes, rows }) {
    return {
      title: `Stores, ${number(stored)} small objects`,
      parts: [
        table(
          ['', 'CPU µs each', 'M/s'],
          Object.entries(rows).map(([name, row]) => [
            name,
            Series.of(row, 'us').text(3),
            Series.of(row, 'rate').text(2),
          ]),
        ),
        `Heap with three indexes, objects aside: ${new Series(heapBytes).text()} B per object.`,
      ],
      charts: [],
      goals: [],
    };
  },
};
