import { join } from 'node:path';
import { headline } from '../lib/headline.mjs';
import { measure, rounds } from '../lib/measure.mjs';
import { panel } from '../lib/panel.mjs';
import { goal, number, rowsOf, Series, table } from '../lib/series.mjs';

const streamAlone = 'riata, list stream alone, from memory';

export const list = {
  name: 'list',
  needs: ['riata', 'clientNode', 'podServer'],
  async measure({ riata, clientNode, node, oldNode, runs, podServer, counts: { pods } }) {
    const { itemsFile, kubeconfigs, sizes } = podServer;
    const ours = (version, encoding, ...how) =>
      measure(version, join(riata, 'subjects/riata/list.mjs'), kubeconfigs[encoding], ...how);
    const theirs = (encoding) =>
      measure(node, join(clientNode, 'subjects/client-node/list.mjs'), kubeconfigs[encoding]);
    const parse = (version, what) => measure(version, join(riata, 'subjects/parse.mjs'), itemsFile, what);
    const decode = (fields) => measure(node, join(riata, 'subjects/riata/decode.mjs'), itemsFile, fields);
    const receive = (how) => measure(node, join(riata, 'subjects/receive.mjs'), kubeconfigs.plain, how);
    const found = await rounds(
      {
        'bare JSON.parse': () => parse(node, 'count'),
        'only received, bytes counted: kernel and TLS': () => receive('tls'),
        'only received, bytes counted: riata': () => receive('riata'),
        [streamAlone]: () => decode('full'),
        [`${streamAlone}, cut`]: () => decode('cut'),
        'riata push': () => ours(node, 'plain', 'push', 'full', 'count'),
        'riata push, cut': () => ours(node, 'plain', 'push', 'cut', 'count'),
        'riata each': () => ours(node, 'plain', 'each', 'full', 'count'),
        'riata each, cut': () => ours(node, 'plain', 'each', 'cut', 'count'),
        'riata push, the second time': () => ours(node, 'plain', 'push', 'full', 'count', 'again'),
        'riata push, gzip': () => ours(node, 'gzip', 'push', 'full', 'count'),
        'riata each, cut, gzip': () => ours(node, 'gzip', 'each', 'cut', 'count'),
        'bare JSON.parse, all kept': () => parse(node, 'keep'),
        'riata list, all kept': () => ours(node, 'plain', 'list', 'full', 'keep'),
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
    return { pods, podBytes: Math.round(sizes.podBytes), rows: rowsOf(found) };
  },
  describe({ pods, podBytes, rows }) {
    const toBare = (name) => Series.ratio(rows[name], rows[bareOf(name)], 'cpuMs');
    const lines = Object.entries(rows).map(([name, row]) => [
      name,
      Series.of(row, 'cpuMs').text(),
      toBare(name).text(2),
      Series.of(row, 'peakMb').text(),
      Series.of(row, 'blockMs').text(1),
      Series.of(row, 'blockCpuMs').text(1),
      Series.of(row, 'wallMs').text(),
    ]);
    const streamed = Object.keys(rows).filter((name) => rows[name].peakMb && !/kept|Node 20|only/.test(name));
    const worst = (field) => Series.worst(streamed.map((name) => Series.of(rows[name], field)));
    const beside = { unit: '×', digits: 2 };
    return {
      title: `Listing ${number(pods)} Pods of ${number(podBytes)} B over HTTPS`,
      parts: [
        table(['', 'CPU ms', '÷ bare JSON.parse', 'peak RSS MB', 'longest block ms', 'of it CPU ms', 'wall ms'], lines),
      ],
      charts: [
        {
          name: 'list',
          title: `Listing ${number(pods)} Pods of ${number(podBytes / 1000, 1)} KB over HTTPS`,
          columns: 2,
          panels: [
            panel('CPU, ms', rows, 'cpuMs', { names }),
            panel('peak resident memory, MB', rows, 'peakMb', { names }),
            panel('time, ms', rows, 'wallMs', { names }),
            panel('longest block of the event loop, ms', rows, 'blockMs', { digits: 1, names, limit: 20 }),
          ],
        },
      ],
      headlines: headline(`peak memory of a list of ${number(pods)} Pods, streamed`, rows, 'peakMb', {
        ...{ ours: 'riata push', others: { 'client-node, all kept': 'client-node, as a whole,' }, unit: ' MB' },
      }),
      goals: [
        goal({ what: 'list, peak RSS, worst way of streaming', got: worst('peakMb'), most: 450, unit: ' MB' }),
        goal({
          what: 'list, longest block of the event loop, worst way of streaming',
          ...{ got: worst('blockMs'), most: 20, unit: ' ms', digits: 1 },
        }),
        goal({ what: 'list stream alone, CPU beside bare JSON.parse', got: toBare(streamAlone), most: 1.3, ...beside }),
        goal({
          what: 'list stream alone with managedFields cut, CPU beside bare JSON.parse',
          ...{ got: toBare(`${streamAlone}, cut`), most: 1, ...beside },
        }),
        goal({
          what: 'list over HTTPS, CPU beside bare JSON.parse without network',
          ...{ got: toBare('riata push'), most: 1.3, ...beside },
        }),
        goal({
          what: 'list over HTTPS with managedFields cut, CPU beside bare JSON.parse without network',
          ...{ got: toBare('riata push, cut'), most: 1, ...beside },
        }),
      ],
    };
  },
};

function bareOf(name) {
  if (name.startsWith('Node 20')) return 'Node 20: bare JSON.parse';
  return name.endsWith('all kept') ? 'bare JSON.parse, all kept' : 'bare JSON.parse';
}

const names = {
  'bare JSON.parse': 'bare JSON.parse, no network',
  'riata push': 'riata, streamed',
  'riata push, cut': 'riata, streamed, no managedFields',
  'riata push, all kept': 'riata, all kept',
  'riata push, cut, all kept': 'riata, all kept, no managedFields',
  'client-node, all kept': 'client-node (keeps all)',
};
