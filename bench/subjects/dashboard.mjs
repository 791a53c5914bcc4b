// dashboard.mjs <off|on|viewed>=<server>...: for each argument an operator with one controller of ConfigMaps, of whose reconciles
// each tenth writes: without a dashboard, with one, and with one that somebody looks at. All are in this process, so that two of
// them share what differs between processes: what the engine compiled, and the heap. When every object was reconciled
// once, it prints the CPU time until then; then a line of JSON for each line that it reads:
//   burst MODE N     changes N objects at once, and waits for their reconciles: CPU of the process, and each reconcile's part
//   pace MODE N MS   lets N objects a second change, for so long: the same
//   memory           after garbage collection
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { Manager } from 'riata/manager';
import { silentLogger } from 'riata/runtime';
import { cpuMs, rssMb } from './probe.mjs';

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function startOperator(mode, server) {
  const operator = {
    reconciles: 0,
    post: (path) => fetch(`${server}${path}`, { method: 'POST' }).then((it) => it.text()),
  };
  const maps = control(ConfigMap, { name: 'maps', concurrency: 10 }).reconcile(async ({ object, client }) => {
    operator.reconciles += 1;
    if (operator.reconciles % 10 !== 0) return;
    const { namespace, name } = object.metadata;
    const body = { metadata: { annotations: { seen: String(operator.reconciles) } } };
    await client.patch(ConfigMap, { namespace, name }, { type: 'merge', body });
  });
  const dashboard = mode === 'off' ? {} : { dashboard: { port: 0 } };
  const manager = await Manager.create({ config: { server }, runtime: { log: silentLogger }, ...dashboard });
  manager.add(maps);
  void manager.run(new AbortController());
  if (mode === 'viewed') {
    while (manager.urls.dashboard === undefined) await pause(20);
    const script = `const { body } = await fetch(process.argv[1]); let n = 0; for await (const part of body) n += part.length;`;
    const url = `${manager.urls.dashboard}/debug/stream`;
    operator.viewer = spawn(process.execPath, ['--input-type=module', '-e', script, url], { stdio: 'ignore' });
  }
  while (operator.reconciles === 0) await pause(20);
  await idle(operator);
  return operator;
}

/** Until nothing has been reconciled for a while. */
async function idle(operator, quietMs = 300) {
  for (let before = -1; before !== operator.reconciles; await pause(quietMs)) before = operator.reconciles;
}

const operators = {};
for (const argument of process.argv.slice(2)) {
  const at = argument.indexOf('=');
  const mode = argument.slice(0, at);
  operators[mode] = await startOperator(mode, argument.slice(at + 1));
}
const startCpuMs = cpuMs();

/** What an operator's reconciles take while `work` runs. */
async function costs(operator, work) {
  const [from, at, before] = [process.cpuUsage(), performance.now(), operator.reconciles];
  await work(before);
  const [cpu, wallMs, reconciles] = [cpuMs(from), performance.now() - at, operator.reconciles - before];
  return { cpuMs: cpu, wallMs, reconciles, cpuUs: (1000 * cpu) / reconciles };
}
const commands = {
  burst(mode, count) {
    const operator = operators[mode];
    return costs(operator, async (before) => {
      await operator.post(`/burst?count=${count}`);
      while (operator.reconciles < before + Number(count)) await pause(2);
    });
  },
  async pace(mode, rate, ms) {
    const operator = operators[mode];
    await operator.post(`/pace?rate=${rate}`);
    await pause(300);
    const found = await costs(operator, () => pause(Number(ms)));
    await operator.post('/pace?rate=0');
    await idle(operator);
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
for (const { viewer } of Object.values(operators)) viewer?.kill();
process.exit();
