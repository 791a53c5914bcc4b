import { join } from 'node:path';
import { startEmbedded } from '../../lib/api-servers.mjs';
import { Connection } from '../../lib/connection.mjs';
import { headline } from '../../lib/headline.mjs';
import { measure, progress } from '../../lib/measure.mjs';
import { panel } from '../../lib/panel.mjs';
import { cpuMsOf, rssMbOf } from '../../lib/process-cost.mjs';
import { goal, rowsOf, Series, table } from '../../lib/series.mjs';

const started = 'in-process, cold: start, first GET';
const cold = 'in-process, cold: import, start, first GET';
const another = 'in-process, another: start, first GET';
const answered = 'process: until the first answer over HTTPS';
const real = 'kube-apiserver and etcd, until ready';

export const start = {
  name: 'apiserver-start',
  needs: ['apiserver', 'apiServers'],
  rounds: (runs) => Math.max(runs, 7),
  async measure({ apiserver, folder, oldNode: node, runs, apiServers: [, kubeApiserver] }) {
    const home = apiserver;
    const found = { 'Node itself': [], 'in-process, cold: import': [], [started]: [], [cold]: [], [another]: [] };
    Object.assign(found, { 'process: until it says it is ready': [], [answered]: [], [real]: [] });
    for (let round = 0; round < runs; round++) {
      progress(`${round + 1}/${runs}`);
      const bare = await measure(node, join(home, 'subjects/nothing.mjs'));
      found['Node itself'].push({ ms: bare.wallMs, cpuMs: bare.cpuMs, rssMb: bare.peakMb });
      const it = await measure(node, join(home, 'subjects/apiserver/start.mjs'));
      found['in-process, cold: import'].push({ ms: it.importMs, cpuMs: it.importCpuMs });
      found[started].push({ ms: it.coldMs - it.importMs, cpuMs: it.coldCpuMs - it.importCpuMs });
      found[cold].push({ ms: it.coldMs, cpuMs: it.coldCpuMs });
      found[another].push({ ms: it.warmMs, cpuMs: it.warmCpuMs });
      const process = await asProcess(home, folder);
      found['process: until it says it is ready'].push({ ms: process.readyMs });
      found[answered].push({ ms: process.ms, cpuMs: process.cpuMs, rssMb: process.rssMb });
    }
    found[real].push({ ms: kubeApiserver.readyMs, rssMb: kubeApiserver.idleMb });
    progress('');
    return { rows: rowsOf(found) };
  },
  describe({ rows }) {
    const lines = Object.entries(rows).map(([name, row]) => [
      name,
      ...['ms', 'cpuMs', 'rssMb'].map((field) => Series.of(row, field).text()),
    ]);
    const limit = (what, name, most) => goal({ what, got: Series.of(rows[name], 'ms'), most, unit: ' ms' });
    const names = {
      [another]: 'in-process, not the first',
      [started]: 'in-process, once imported',
      [cold]: 'in-process, with its import',
      [answered]: 'riata-apiserver, HTTPS',
      [real]: 'kube-apiserver and etcd',
    };
    return {
      title: 'Start, and memory of an idle server',
      parts: [table(['', 'wall ms', 'CPU ms', 'RSS MB'], lines)],
      charts: [
        {
          name: 'apiserver-start',
          rounds: (runs) => Math.max(runs, 7),
          title: 'From the start of an API server to its first answer',
          panels: [
            panel('time, ms', rows, 'ms', { names }),
            panel('resident memory, idle, MB', rows, 'rssMb', { names }),
          ],
        },
      ],
      headlines: [
        ...headline('API server for tests, in-process, from its start to its first answer', rows, 'ms', {
          ...{ ours: started, others: { [real]: 'kube-apiserver and etcd' }, unit: ' ms' },
        }),
        ...headline('the same as a process, over HTTPS', rows, 'ms', {
          ...{ ours: answered, others: { [real]: 'kube-apiserver and etcd' }, unit: ' ms' },
        }),
      ],
      goals: [
        limit('in-process API server, from start to first answer', started, 50),
        limit('the same, with its import in a new process', cold, 50),
        limit('API server as a process, to its first answer over HTTPS', answered, 800),
      ],
    };
  },
};

async function asProcess(home, folder) {
  const from = performance.now();
  const server = await startEmbedded(home, folder);
  try {
    const connection = await Connection.open(server);
    await connection.request('GET', '/api/v1/namespaces');
    const ms = performance.now() - from;
    connection.close();
    return { readyMs: server.readyMs, ms, cpuMs: cpuMsOf(server.pids), rssMb: rssMbOf(server.pids) };
  } finally {
    await server.stop();
  }
}
