import { join } from 'node:path';
import { startEmbedded } from '../../lib/api-servers.mjs';
import { Connection } from '../../lib/connection.mjs';
import { measure } from '../../lib/measure.mjs';
import { cpuMsOf, rssMbOf } from '../../lib/process-cost.mjs';
import { goal, number, Series, table } from '../../lib/series.mjs';

export async function start({ home, folder, node, runs, servers: [, real] }) {
  const inProcess = [];
  const asProcess = [];
  const bare = [];
  for (let i = 0; i < Math.max(runs, 7); i++) {
    bare.push(await measure(node, join(home, 'subjects/nothing.mjs')));
    inProcess.push(await measure(node, join(home, 'subjects/apiserver/start.mjs')));
    const from = performance.now();
    const server = await startEmbedded(home, folder);
    const connection = await Connection.open(server);
    await connection.request('GET', '/api/v1/namespaces');
    const { readyMs } = server;
    asProcess.push({ readyMs, ms: performance.now() - from, cpuMs: cpuMsOf(server.pids), rssMb: rssMbOf(server.pids) });
    connection.close();
    await server.stop();
  }
  for (const report of inProcess) {
    report.firstMs = report.coldMs - report.importMs;
    report.firstCpuMs = report.coldCpuMs - report.importCpuMs;
  }
  const of = (reports, field) => Series.of(reports, field);
  const rows = [
    ['Node itself, for comparison', of(bare, 'wallMs').text(), of(bare, 'cpuMs').text(), of(bare, 'peakMb').text()],
    ['in-process, cold: import', of(inProcess, 'importMs').text(), of(inProcess, 'importCpuMs').text(), ''],
    ['in-process, cold: start, first GET', of(inProcess, 'firstMs').text(), of(inProcess, 'firstCpuMs').text(), ''],
    [
      'in-process, cold: import, start, first GET',
      of(inProcess, 'coldMs').text(),
      of(inProcess, 'coldCpuMs').text(),
      '',
    ],
    ['in-process, another: start, first GET', of(inProcess, 'warmMs').text(), of(inProcess, 'warmCpuMs').text(), ''],
    ['process: until it says it is ready', of(asProcess, 'readyMs').text(), '', ''],
    [
      'process: until the first answer over HTTPS',
      ...[of(asProcess, 'ms').text(), of(asProcess, 'cpuMs').text(), of(asProcess, 'rssMb').text()],
    ],
    ['kube-apiserver and etcd, until ready', number(real.readyMs), '', number(real.idleMb)],
  ];
  return {
    title: 'Start, and memory of an idle server',
    text: table(['', 'wall ms', 'CPU ms', 'RSS MB'], rows),
    goals: [
      goal('in-process, from start to first answer, CPU', of(inProcess, 'firstCpuMs').median, 50, ' ms'),
      goal('in-process, from import to first answer, CPU', of(inProcess, 'coldCpuMs').median, 50, ' ms'),
      goal('as a process, to the first answer over HTTPS', of(asProcess, 'ms').median, 800, ' ms'),
    ],
  };
}
