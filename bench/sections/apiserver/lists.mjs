import { deployment } from '../../lib/api-objects.mjs';
import { Connection } from '../../lib/connection.mjs';
import { fill, timed } from '../../lib/load.mjs';
import { rssMbOf } from '../../lib/process-cost.mjs';
import { goal, number, Series, table } from '../../lib/series.mjs';

const path = '/apis/apps/v1/deployments';

export async function lists({ servers, runs, sizes }) {
  const rows = [];
  const goals = [];
  let have = 0;
  const before = servers.map((server) => rssMbOf(server.pids));
  for (const size of sizes) {
    for (const server of servers) await fill(server, deployment, size, have);
    have = size;
    for (const gzip of [false, true]) {
      const found = { embedded: [], 'kube-apiserver': [] };
      for (let round = 0; round <= runs; round++) {
        for (const server of servers) {
          const connection = await Connection.open(server);
          await server.ask?.('probe');
          const cost = await timed(server, () =>
            connection.request('GET', `${path}?resourceVersion=0`, undefined, { gzip }),
          );
          const block = await server.ask?.('stop probe');
          connection.close();
          const { ms, cpuMs, result } = cost;
          const figures = { ms, cpuMs, perSecond: (size / ms) * 1000, megabytes: result.bytes / 1e6, ...block };
          // The first round is for what is made once.
          found[server.name].push({ ...figures, mbPerSecond: (figures.megabytes / ms) * 1000 });
        }
      }
      const name = `${number(size)}${gzip ? ', gzip' : ''}`;
      const cut = (reports) => reports.slice(1);
      for (const [who, reports] of Object.entries(found)) {
        const of = (field, digits) => Series.of(cut(reports), field).text(digits);
        const block = reports[0].blockMs === undefined ? '' : of('blockMs');
        const first = number(reports[0].cpuMs);
        rows.push([
          `${name}: ${who}`,
          of('megabytes', 1),
          of('ms'),
          of('perSecond'),
          of('mbPerSecond'),
          of('cpuMs'),
          first,
          block,
        ]);
      }
      const [embedded, real] = [cut(found.embedded), cut(found['kube-apiserver'])];
      const [wall, cpu] = [Series.ratio(embedded, real, 'ms'), Series.ratio(embedded, real, 'cpuMs')];
      rows.push([`${name}: embedded ÷ real`, '', wall.text(2), '', '', cpu.text(2), '', '']);
      goals.push(goal(`list of ${name}: time beside kube-apiserver`, wall.median, 1, '×', 2));
      goals.push(goal(`list of ${name}: CPU beside kube-apiserver`, cpu.median, 1, '×', 2));
      goals.push(goal(`list of ${name}: longest block`, Series.of(embedded, 'blockMs').median, 20, ' ms'));
    }
  }
  const head = ['objects', 'MB', 'wall ms', 'objects/s', 'MB/s', 'server CPU ms', 'first time', 'block ms'];
  const memory = servers.map((server, i) => `${server.name} ${number(before[i])} → ${number(rssMbOf(server.pids))} MB`);
  return { title: 'Lists over HTTPS', text: `${table(head, rows)}\n\nRSS over all this: ${memory.join(', ')}.`, goals };
}
