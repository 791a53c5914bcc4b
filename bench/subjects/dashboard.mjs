// dashboard.mjs <server> <off|on|viewed>: an operator with one controller of ConfigMaps, of whose reconciles each tenth writes,
// without a dashboard, with one, and with one that somebody looks at. When every
// object was reconciled once, it prints the CPU time until then; then a line of JSON for each line that it reads:
//   burst N     changes N objects at once, and waits for their reconciles: CPU of the process, and each reconcile's part
//   pace N MS   lets N objects a second change, for so long: the same
//   memory      after garbage collection
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { Manager } from 'riata/manager';
import { silentLogger } from 'riata/runtime';
import { cpuMs, rssMb } from './probe.mjs';

const [server, mode] = process.argv.slice(2);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const post = (path) => fetch(`${server}${path}`, { method: 'POST' }).then((response) => response.text());

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
void manager.run(new AbortController());

/** Until nothing has been reconciled for a while. */
async function idle(quietMs = 300) {
  for (let before = -1; before !== reconciles; await pause(quietMs)) before = reconciles;
}

let viewer;
if (mode === 'viewed') {
  while (manager.urls.dashboard === undefined) await pause(20);
  const script = `const { body } = await fetch(process.argv[1]); let n = 0; for await (const part of body) n += part.length;`;
  const url = `${manager.urls.dashboard}/debug/stream`;
  viewer = spawn(process.execPath, ['--input-type=module', '-e', script, url], { stdio: 'ignore' });
}
while (reconciles === 0) await pause(20);
await idle();
const startCpuMs = cpuMs();

const costs = (from, at, count) => {
  const [cpu, wall, done] = [cpuMs(from), performance.now() - at, reconciles - count];
  return { cpuMs: cpu, wallMs: wall, reconciles: done, cpuUs: (1000 * cpu) / done };
};
const commands = {
  async burst(count) {
    const [from, at, before] = [process.cpuUsage(), performance.now(), reconciles];
    await post(`/burst?count=${count}`);
    while (reconciles < before + Number(count)) await pause(2);
    return costs(from, at, before);
  },
  async pace(rate, ms) {
    await post(`/pace?rate=${rate}`);
    await pause(300);
    const [from, at, before] = [process.cpuUsage(), performance.now(), reconciles];
    await pause(Number(ms));
    const found = costs(from, at, before);
    await post('/pace?rate=0');
    await idle();
    return found;
  },
  async memory() {
    for (let turn = 0; turn < 4; turn++) {
      globalThis.gc();
      await pause(50);
    }
    const { heapUsed, external } = process.memoryUsage();
    return { rssMb: rssMb(), heapMb: (heapUsed + external) / 1024 / 1024 };
  },
};
console.log(JSON.stringify({ startCpuMs }));
for await (const line of createInterface({ input: process.stdin })) {
  const [command, ...args] = line.split(' ');
  console.log(JSON.stringify(await commands[command](...args)));
}
viewer?.kill();
process.exit();
