import { join } from 'node:path';
import { measure, rounds } from '../lib/measure.mjs';
import { panel } from '../lib/panel.mjs';
import { number, rowsOf, Series, table } from '../lib/series.mjs';

export const watch = {
  name: 'watch',
  needs: ['riata', 'clientNode', 'podServer'],
  async measure({ riata, clientNode, node, oldNode, runs, podServer }) {
    const { events, sizes } = podServer;
    const { plain } = podServer.kubeconfigs;
    const ours = (version, ...how) => measure(version, join(riata, 'subjects/riata/watch.mjs'), plain, ...how);
    const found = await rounds(
      {
        'riata push': () => ours(node, 'push', 'full'),
        'riata push, cut': () => ours(node, 'push', 'cut'),
        'riata for await': () => ours(node, 'each', 'full'),
        'client-node': () => measure(node, join(clientNode, 'subjects/client-node/watch.mjs'), plain),
        'riata push, Node 20': () => ours(oldNode, 'push', 'full'),
        'riata push, cut, Node 20': () => ours(oldNode, 'push', 'cut'),
      },
      runs,
    );
    for (const [name, reports] of Object.entries(found)) {
      const short = reports.find(({ count }) => count !== events);
      if (short) throw new Error(`${name}: ${short.count} of ${events} events came`);
    }
    return { events, podBytes: Math.round(sizes.podBytes), rows: rowsOf(found) };
  },
  describe({ events, podBytes, rows }) {
    const lines = Object.entries(rows).map(([name, row]) => [
      name,
      Series.of(row, 'perSecond').text(),
      Series.of(row, 'cpuUs').text(1),
      Series.ratio(row, rows['client-node'], 'cpuUs').text(2),
      Series.of(row, 'peakMb').text(),
      Series.of(row, 'blockMs').text(1),
    ]);
    return {
      title: `Watch: ${number(events)} MODIFIED events of ${number(podBytes)} B over HTTPS`,
      parts: [table(['', 'events/s', 'CPU µs/event', '÷ client-node', 'peak RSS MB', 'longest block ms'], lines)],
      charts: [
        {
          name: 'watch',
          title: `A watch of ${number(events)} MODIFIED events of Pods over HTTPS`,
          panels: [
            panel('CPU per event, µs', rows, 'cpuUs', { digits: 1, names }),
            panel('events per second', rows, 'perSecond', { better: 'more', names }),
          ],
        },
      ],
      goals: [],
    };
  },
};

const names = {
  'riata push': 'riata, push',
  'riata for await': 'riata, for await',
  'riata push, cut': 'riata, push, no managedFields',
  'client-node': 'client-node',
};
