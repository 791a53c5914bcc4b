// From nothing to a first answer in-process.
import { performance } from 'node:perf_hooks';
import { cpuMs, report, rssMb } from '../probe.mjs';

const cpu = process.cpuUsage();
const began = performance.now();
const { ApiServer } = await import('@riata/apiserver');
const importMs = performance.now() - began;
const importCpuMs = cpuMs(cpu);

function get(server, path) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${server.token}` };
    const sink = {
      onHeaders: (status) => status === 200 || reject(new Error(`${path}: ${status}`)),
      onData: () => {},
      onEnd: resolve,
      onError: reject,
    };
    server.transport.dispatch({ method: 'GET', path, headers }, sink);
  });
}

async function startOne() {
  const server = await ApiServer.start();
  await get(server, '/api/v1/namespaces');
  return server;
}

await startOne();
const coldMs = performance.now() - began;
const coldCpuMs = cpuMs(cpu);
const warm = [];
for (let i = 0; i < 9; i++) {
  const [from, cpuFrom] = [performance.now(), process.cpuUsage()];
  await startOne();
  warm.push({ ms: performance.now() - from, cpuMs: cpuMs(cpuFrom) });
}
const middle = (field) => warm.map((w) => w[field]).sort((a, b) => a - b)[4];
report({ importMs, importCpuMs, coldMs, coldCpuMs, warmMs: middle('ms'), warmCpuMs: middle('cpuMs'), rssMb: rssMb() });
