import { join } from 'node:path';
import { measure, rounds } from '../lib/measure.mjs';
import { goal, number, Series, table } from '../lib/series.mjs';

export async function list({ riata, clientNode, node, oldNode, runs, server, pods }) {
  const { itemsFile, kubeconfigs, sizes } = server;
  const ours = (version, encoding, ...how) =>
    measure(version, join(riata, 'subjects/riata/list.mjs'), kubeconfigs[encoding], ...how);
  const theirs = (encoding) => measure(node, join(clientNode, 'subjects/client-node/list.mjs'), kubeconfigs[encoding]);
  const parse = (version, what) => measure(version, join(riata, 'subjects/parse.mjs'), itemsFile, what);
  const decode = (fields) => measure(node, join(riata, 'subjects/riata/decode.mjs'), itemsFile, fields);
  const receive = (how) => measure(node, join(riata, 'subjects/receive.mjs'), kubeconfigs.plain, how);
  const found = await rounds(
    {
      'bare JSON.parse': () => parse(node, 'count'),
      'only received, bytes counted: kernel and TLS': () => receive('tls'),
      'only received, bytes counted: riata': () => receive('riata'),
      'riata, list stream alone, from memory': () => decode('full'),
      'riata, list stream alone, from memory, cut': () => decode('cut'),
      'riata push': () => ours(node, 'plain', 'push', 'full', 'count'),
      'riata push, cut': () => ours(node, 'plain', 'push', 'cut', 'count'),
      'riata each': () => ours(node, 'plain', 'each', 'full', 'count'),
      'riata each, cut': () => ours(node, 'plain', 'each', 'cut', 'count'),
      'riata push, gzip': () => ours(node, 'gzip', 'push', 'full', 'count'),
      'riata each, cut, gzip': () => ours(node, 'gzip', 'each', 'cut', 'count'),
      'bare JSON.parse, all kept': () => parse(node, 'keep'),
      'riata push, all kept': () => ours(node, 'plain', 'push', 'full', 'keep'),
      'riata push, cut, all kept': () => ours(node, 'plain', 'push', 'cut', 'keep'),
      'client-node, all kept': () => theirs('plain'),
      'client-node, gzip, all kept': () => theirs('gzip'),
      'Node 20: bare JSON.parse': () => parse(oldNode, 'count'),
      'Node 20: riata push': () => ours(oldNode, 'plain', 'push', 'full', 'count'),
      'Node 20: riata push, cut': () => ours(oldNode, 'plain', 'push', 'cut', 'count'),
    },
    runs,
  );
  for (const [name, reports] of Object.entries(found)) {
    const short = reports.find(({ count = pods }) => count !== pods);
    if (short) throw new Error(`${name}: ${short.count} of ${pods} Pods came`);
  }
  const bareOf = (name) => {
    if (name.startsWith('Node 20')) return found['Node 20: bare JSON.parse'];
    return found[name.endsWith('all kept') ? 'bare JSON.parse, all kept' : 'bare JSON.parse'];
  };
  const rows = Object.entries(found).map(([name, reports]) => [
    name,
    Series.of(reports, 'cpuMs').text(),
    Series.ratio(reports, bareOf(name), 'cpuMs').text(2),
    Series.of(reports, 'peakMb').text(),
    Series.of(reports, 'blockMs').text(1),
    Series.of(reports, 'blockCpuMs').text(1),
    Series.of(reports, 'wallMs').text(),
  ]);
  const median = (name, field) => Series.of(found[name], field).median;
  const toBare = (name) => Series.ratio(found[name], bareOf(name), 'cpuMs').median;
  /** What is left of the CPU of a case when that of receiving the same bytes is taken away, beside bare JSON.parse. */
  const decoding = (name) => {
    const received = found['only received, bytes counted: riata'];
    const left = found[name].map(({ cpuMs }, i) => ({ cpuMs: cpuMs - received[i].cpuMs }));
    return Series.ratio(left, bareOf(name), 'cpuMs').median;
  };
  const streamed = Object.keys(found).filter((name) => found[name][0].peakMb && !/kept|Node 20|only/.test(name));
  const worst = (field) => Math.max(...streamed.map((name) => median(name, field)));
  return {
    title: `Listing ${number(pods)} Pods of ${number(sizes.podBytes)} B over HTTPS`,
    text: table(
      ['', 'CPU ms', '÷ bare JSON.parse', 'peak RSS MB', 'longest block ms', 'of it CPU ms', 'wall ms'],
      rows,
    ),
    goals: [
      goal('list, peak RSS, worst way of streaming', worst('peakMb'), 450, ' MB'),
      goal('list, longest block of the event loop, worst way of streaming', worst('blockMs'), 20, ' ms', 1),
      goal('of it CPU time of the thread', worst('blockCpuMs'), 20, ' ms', 1),
      goal(
        'list stream alone, CPU beside bare JSON.parse',
        toBare('riata, list stream alone, from memory'),
        1.3,
        '×',
        2,
      ),
      goal(
        'list stream alone with managedFields cut, CPU beside bare JSON.parse',
        toBare('riata, list stream alone, from memory, cut'),
        1,
        '×',
        2,
      ),
      goal('list over HTTPS, CPU beside bare JSON.parse', toBare('riata push'), 1.3, '×', 2),
      goal('the same without what receiving alone costs', decoding('riata push'), 1.3, '×', 2),
      goal('list over HTTPS with managedFields cut, CPU beside bare JSON.parse', toBare('riata push, cut'), 1, '×', 2),
      goal('the same without what receiving alone costs', decoding('riata push, cut'), 1, '×', 2),
      goal('list over HTTPS with managedFields cut, by for await', toBare('riata each, cut'), 1, '×', 2),
    ],
  };
}
