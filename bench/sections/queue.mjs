import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rounds } from '../lib/measure.mjs';
import { panel } from '../lib/panel.mjs';
import { goal, number, rowOf, Series, table } from '../lib/series.mjs';

const script = fileURLToPath(new URL('../micro/queue.mjs', import.meta.url));
const plain = 'add, get, done';

/** The work queue alone, in a process of its own: `micro/queue.mjs`. */
export const queue = {
  name: 'queue',
  async measure({ node, runs, counts: { delayed } }) {
    const once = async () => {
      const args = ['--expose-gc', script, '--json', `--delayed=${delayed}`];
      const { stdout } = await promisify(execFile)(node, args, { timeout: 300_000, maxBuffer: 1 << 24 });
      return JSON.parse(stdout);
    };
    const { queue: reports } = await rounds({ queue: once }, runs);
    const names = (part) => Object.keys(reports[0][part]);
    return {
      delayed,
      rates: Object.fromEntries(
        names('rates').map((name) => [
          name,
          rowOf(reports.flatMap(({ rates }) => rates[name].map((rate) => ({ rate })))),
        ]),
      ),
      delays: Object.fromEntries(
        names('delays').map((name) => [name, rowOf(reports.map(({ delays }) => delays[name]))]),
      ),
    };
  },
  describe({ delayed, rates, delays }) {
    const many = delayed === 1_000_000 ? 'A million' : number(delayed);
    const shown = Object.fromEntries(Object.entries(rates).filter(([name]) => /done/.test(name)));
    const turns = Object.values(delays).map((row) => Series.of(row, 'turnCpuMs'));
    return {
      title: 'The work queue',
      parts: [
        table(
          ['10,000 keys that go round', 'M/s per core'],
          Object.entries(rates).map(([name, row]) => [name, Series.of(row, 'rate').text(2)]),
        ),
        `**${many} delayed keys**`,
        table(
          ['', 'CPU µs each', 'longest turn of the event loop, CPU ms', 'by the clock, ms'],
          Object.entries(delays).map(([name, row]) => [
            name,
            Series.of(row, 'us').text(2),
            Series.of(row, 'turnCpuMs').text(1),
            Series.of(row, 'turnMs').text(1),
          ]),
        ),
      ],
      charts: [
        {
          name: 'queue',
          title: 'The work queue of riata: 10,000 keys that go round',
          panels: [
            panel('million keys per second and core', shown, 'rate', {
              ...{ digits: 1, better: 'more', limit: 2, ours: (name) => !name.startsWith('bare') },
            }),
          ],
        },
      ],
      goals: [
        goal({
          what: 'queue, add, get and done of a key',
          ...{ got: Series.of(rates[plain], 'rate'), least: 2, unit: ' M/s per core', digits: 2 },
        }),
        goal({
          what: `queue, ${number(delayed)} delayed keys, longest turn of the event loop (CPU)`,
          ...{ got: Series.worst(turns), most: 20, unit: ' ms', digits: 1 },
        }),
      ],
    };
  },
};
