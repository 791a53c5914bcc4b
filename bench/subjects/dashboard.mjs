// dashboard.mjs <server> <off|on|viewed> <seconds>: an operator with one controller of ConfigMaps, of whose reconciles each
// tenth writes. Its CPU and memory without a dashboard, with one, and with one that somebody looks at.
import { spawn } from 'node:child_process';
import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { Manager } from 'riata/manager';
import { silentLogger } from 'riata/runtime';
import { cpuMs, rssMb } from './probe.mjs';

const [server, mode, seconds] = process.argv.slice(2);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

let reconciles = 0;
const maps = control(ConfigMap, { name: 'maps', concurrency: 10 }).reconcile(async ({ object, client }) => {
  reconciles += 1;
  if (reconciles % 10 !== 0) return;
  const { namespace, name } = object.metadata;
  const body = { metadata: { annotations: { seen: String(reconciles) } } };
  await client.patch(ConfigMap, { namespace, name }, { type: 'merge', body });
});
const dashboard = mode === 'off' ? {} : { dashboard: { port: 0 } };
const manager = await Manager.create({ config: { server }, runtime: { log: silentLogger }, ...dashboard });
manager.add(maps);
const stop = new AbortController();
const running = manager.run(stop);

// Until the first reconcile of every object is done, and the code is warm.
let before = -1;
while (reconciles === 0 || reconciles - before > 1500) {
  before = reconciles;
  await pause(1000);
}
let viewer;
if (mode === 'viewed') {
  const script = `const { body } = await fetch(process.argv[1]); let n = 0; for await (const part of body) n += part.length;`;
  const url = `${manager.urls.dashboard}/debug/stream`;
  viewer = spawn(process.execPath, ['--input-type=module', '-e', script, url], { stdio: 'ignore' });
}
await pause(4000);
const [from, at, count] = [process.cpuUsage(), performance.now(), reconciles];
await pause(Number(seconds) * 1000);
const [cpu, wall, done] = [cpuMs(from), performance.now() - at, reconciles - count];
for (let turn = 0; turn < 3; turn++) {
  globalThis.gc();
  await pause(50);
}
const { heapUsed, external } = process.memoryUsage();
const heapMb = (heapUsed + external) / 1024 / 1024;
// Where other processes take the CPU away, changes come late and in bursts: each reconcile costs the same.
const figures = {
  ...{ cpuPercent: (100 * cpu) / wall, cpuUs: (1000 * cpu) / done },
  ...{ rate: (done * 1000) / wall, rssMb: rssMb(), heapMb },
};
process.stdout.write(`${JSON.stringify(figures)}\n`);
viewer?.kill();
stop.abort();
await running;
process.exit();
