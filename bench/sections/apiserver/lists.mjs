import { deployment } from '../../lib/api-objects.mjs';
import { Connection } from '../../lib/connection.mjs';
import { fill, timed } from '../../lib/load.mjs';
import { progress } from '../../lib/measure.mjs';
import { panel } from '../../lib/panel.mjs';
import { rssMbOf } from '../../lib/process-cost.mjs';
import { goal, number, rowsOf, Series, table } from '../../lib/series.mjs';

const path = '/apis/apps/v1/deployments';

export const lists = {
  name: 'apiserver-lists',
  needs: ['apiServers'],
  async measure({ apiServers: servers, runs, counts: { listSizes } }) {
    const found = {};
    let have = 0;
    const before = servers.map((server) => rssMbOf(server.pids));
    for (const size of listSizes) {
      progress(`${number(size)}: filling`);
      for (const server of servers) await fill(server, deployment, size, have);
      have = size;
      for (const gzip of [false, true]) {
        const reports = { embedded: [], 'kube-apiserver': [] };
        // One more than asked for: the first is for what is made once.
        for (let round = 0; round <= runs; round++) {
          progress(`${number(size)}${gzip ? ', gzip' : ''}: ${round}/${runs}`);
          for (const server of servers) reports[server.name].push(await listOnce(server, size, gzip));
        }
        const rows = rowsOf({
          embedded: reports.embedded.slice(1),
          'kube-apiserver': reports['kube-apiserver'].slice(1),
        });
        for (const [name, row] of Object.entries(rows)) row.firstCpuMs = [Math.round(reports[name][0].cpuMs)];
        found[`${number(size)}${gzip ? ', gzip' : ''}`] = rows;
      }
    }
    progress('');
    const memory = servers.map((server, i) => [
      server.name,
      { beforeMb: [Math.round(before[i])], afterMb: [Math.round(rssMbOf(server.pids))] },
    ]);
    return { lists: found, memory: Object.fromEntries(memory) };
  },
  describe({ lists: found, memory }) {
    const lines = Object.entries(found).flatMap(([what, rows]) => [
      ...Object.entries(rows).map(([name, row]) => [
        `${what}: ${name}`,
        ...[Series.of(row, 'megabytes').text(1), Series.of(row, 'ms').text(), Series.of(row, 'perSecond').text()],
        ...['mbPerSecond', 'cpuMs', 'firstCpuMs', 'blockMs'].map((field) => Series.of(row, field).text()),
      ]),
      [
        `${what}: embedded ÷ real`,
        ...['', Series.ratio(rows.embedded, rows['kube-apiserver'], 'ms').text(2), '', ''],
        ...[Series.ratio(rows.embedded, rows['kube-apiserver'], 'cpuMs').text(2), '', ''],
      ],
    ]);
    const held = Object.entries(memory).map(
      ([name, row]) => `${name} ${Series.of(row, 'beforeMb').text()} → ${Series.of(row, 'afterMb').text()} MB`,
    );
    const sides = Object.values(found);
    const rows = Object.fromEntries(
      Object.entries(found).flatMap(([what, { embedded, 'kube-apiserver': real }]) => [
        [`embedded: ${what}`, embedded],
        [`kube-apiserver: ${what}`, real],
      ]),
    );
    return {
      title: 'Lists of Deployments over HTTPS',
      parts: [
        table(['objects', 'MB', 'wall ms', 'objects/s', 'MB/s', 'server CPU ms', 'first time', 'block ms'], lines),
        `RSS over all this: ${held.join(', ')}.`,
      ],
      charts: [
        {
          name: 'apiserver-lists',
          title: 'Lists of Deployments over HTTPS, embedded API server and kube-apiserver with etcd',
          panels: [
            panel('objects per second', rows, 'perSecond', { better: 'more' }),
            panel("the server's CPU, ms", rows, 'cpuMs'),
          ],
        },
      ],
      goals: [
        goal({
          what: `list, time beside kube-apiserver, the slowest of ${sides.length}`,
          got: Series.worst(sides.map((side) => Series.ratio(side.embedded, side['kube-apiserver'], 'ms'))),
          ...{ most: 1, unit: '×', digits: 2 },
        }),
      ],
    };
  },
};

async function listOnce(server, size, gzip) {
  const connection = await Connection.open(server);
  await server.ask?.('probe');
  const cost = await timed(server, () => connection.request('GET', `${path}?resourceVersion=0`, undefined, { gzip }));
  const block = await server.ask?.('stop probe');
  connection.close();
  const { ms, cpuMs, result } = cost;
  const megabytes = result.bytes / 1e6;
  const rates = { perSecond: (size / ms) * 1000, mbPerSecond: (megabytes / ms) * 1000 };
  return { ms, cpuMs, megabytes, ...rates, ...block };
}
