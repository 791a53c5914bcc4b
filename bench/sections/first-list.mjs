import { join } from 'node:path';
import { measure, rounds } from '../lib/measure.mjs';
import { goal, Series, table } from '../lib/series.mjs';

export async function firstList({ riata, clientNode, node, oldNode, runs, server }) {
  const { plain } = server.kubeconfigs;
  const found = await rounds(
    {
      'Node itself': () => measure(node, join(riata, 'subjects/nothing.mjs')),
      riata: () => measure(node, join(riata, 'subjects/riata/first-list.mjs'), plain),
      'client-node': () => measure(node, join(clientNode, 'subjects/client-node/first-list.mjs'), plain),
      'riata, Node 20': () => measure(oldNode, join(riata, 'subjects/riata/first-list.mjs'), plain),
    },
    Math.max(runs, 9),
  );
  const rows = Object.entries(found).map(([name, reports]) => [
    name,
    Series.of(reports, 'cpuMs').text(),
    Series.of(reports, 'peakMb').text(),
    Series.of(reports, 'wallMs').text(),
  ]);
  const ratio = (field) => Series.ratio(found.riata, found['client-node'], field);
  rows.push(['riata ÷ client-node', ratio('cpuMs').text(2), ratio('peakMb').text(2), ratio('wallMs').text(2)]);
  return {
    title: 'From the start of the process to a first list of 10 Pods over HTTPS',
    text: table(['', 'CPU ms', 'peak RSS MB', 'wall ms'], rows),
    goals: [
      goal('first list, CPU beside client-node', ratio('cpuMs').median, 0.4, '×', 2),
      goal('first list, peak RSS beside client-node', ratio('peakMb').median, 0.6, '×', 2),
    ],
  };
}
