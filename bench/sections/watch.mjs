import { join } from 'node:path';
import { measure, rounds } from '../lib/measure.mjs';
import { Series, table } from '../lib/series.mjs';

export async function watch({ riata, clientNode, node, oldNode, runs, server, events }) {
  const { plain } = server.kubeconfigs;
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
  const rows = Object.entries(found).map(([name, reports]) => [
    name,
    Series.of(reports, 'perSecond').text(),
    Series.of(reports, 'cpuUs').text(1),
    Series.ratio(reports, found['client-node'], 'cpuUs').text(2),
    Series.of(reports, 'peakMb').text(),
    Series.of(reports, 'blockMs').text(1),
  ]);
  return {
    title: `Watch: ${events.toLocaleString('en-US')} MODIFIED events over HTTPS, ${Math.round(server.sizes.podBytes)} B each`,
    text: table(['', 'events/s', 'CPU µs/event', '÷ client-node', 'peak RSS MB', 'longest block ms'], rows),
    goals: [],
  };
}
