import { join } from 'node:path';
import { headline } from '../lib/headline.mjs';
import { measure, rounds } from '../lib/measure.mjs';
import { panel } from '../lib/panel.mjs';
import { goal, rowsOf, Series, table } from '../lib/series.mjs';

const ours = 'riata';
const theirs = 'client-node';

export const firstList = {
  name: 'first-list',
  needs: ['riata', 'clientNode', 'podServer'],
  rounds: (runs) => Math.max(runs, 9),
  async measure({ riata, clientNode, node, oldNode, runs, podServer }) {
    const { plain } = podServer.kubeconfigs;
    const found = await rounds(
      {
        'Node itself': () => measure(node, join(riata, 'subjects/nothing.mjs')),
        [ours]: () => measure(node, join(riata, 'subjects/riata/first-list.mjs'), plain),
        [theirs]: () => measure(node, join(clientNode, 'subjects/client-node/first-list.mjs'), plain),
        'riata, Node 20': () => measure(oldNode, join(riata, 'subjects/riata/first-list.mjs'), plain),
      },
      runs,
    );
    return { rows: rowsOf(found) };
  },
  describe({ rows }) {
    const lines = Object.entries(rows).map(([name, row]) => [
      name,
      ...['cpuMs', 'peakMb', 'wallMs'].map((field) => Series.of(row, field).text()),
    ]);
    const ratio = (field) => Series.ratio(rows[ours], rows[theirs], field);
    lines.push(['riata ÷ client-node', ...['cpuMs', 'peakMb', 'wallMs'].map((field) => ratio(field).text(2))]);
    const beside = { unit: '×', digits: 2 };
    return {
      title: 'From the start of the process to a first list of 10 Pods over HTTPS',
      parts: [table(['', 'CPU ms', 'peak RSS MB', 'wall ms'], lines)],
      charts: [
        {
          name: 'first-list',
          rounds: (runs) => Math.max(runs, 9),
          title: 'From the start of a process to its first list of 10 Pods over HTTPS',
          panels: [panel('CPU, ms', rows, 'cpuMs'), panel('peak resident memory, MB', rows, 'peakMb')],
        },
      ],
      headlines: headline('CPU from the start of a process to a first list', rows, 'cpuMs', {
        others: { [theirs]: theirs },
        unit: ' ms',
      }),
      goals: [
        goal({ what: 'first list, CPU beside client-node', got: ratio('cpuMs'), most: 0.4, ...beside }),
        goal({ what: 'first list, peak RSS beside client-node', got: ratio('peakMb'), most: 0.6, ...beside }),
      ],
    };
  },
};
