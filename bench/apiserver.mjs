// Measures the embedded API server beside kube-apiserver and etcd. See README.md.
//   node bench/apiserver.mjs [--runs=5] [--only=start,writes,fan-out,lists,memory] [--sizes=5000,50000] [--kept=100000]
//     [--count=500] [--watchers=1000] [--home=FOLDER] [--no-build]
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startEmbedded, startReal } from './lib/api-servers.mjs';
import { installApiServer } from './lib/install.mjs';
import { rssMbOf } from './lib/process-cost.mjs';
import { fanOut } from './sections/apiserver/fan-out.mjs';
import { lists } from './sections/apiserver/lists.mjs';
import { memory } from './sections/apiserver/memory.mjs';
import { start } from './sections/apiserver/start.mjs';
import { writes } from './sections/apiserver/writes.mjs';

const sections = { start, writes, 'fan-out': fanOut, lists, memory };
const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    only: { type: 'string', default: Object.keys(sections).join(',') },
    sizes: { type: 'string', default: '5000,50000' },
    kept: { type: 'string', default: '100000' },
    count: { type: 'string', default: '500' },
    watchers: { type: 'string', default: '1000' },
    home: { type: 'string' },
    'no-build': { type: 'boolean', default: false },
  },
});

const folder = mkdtempSync(join(tmpdir(), 'riata-bench-'));
const servers = [];
async function cleanUp() {
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void cleanUp().finally(() => process.exit(1)));

const log = (text) => process.stderr.write(`${text}\n`);

async function main() {
  const wanted = options.only.split(',');
  const unknown = wanted.filter((name) => !Object.hasOwn(sections, name));
  if (unknown.length > 0)
    throw new Error(`--only knows ${Object.keys(sections).join(', ')}; got ${unknown.join(', ')}`);
  const home = options.home ?? installApiServer(folder, { build: !options['no-build'] });
  // What runs there takes what it needs from there.
  for (const part of ['subjects', 'lib']) {
    cpSync(fileURLToPath(new URL(part, import.meta.url)), join(home, part), { recursive: true });
  }
  if (wanted.some((name) => name !== 'memory')) {
    servers.push(await startEmbedded(home, folder), await startReal());
    for (const server of servers) server.idleMb = rssMbOf(server.pids);
  }
  const context = {
    ...{ home, folder, servers, node: process.execPath },
    runs: Number(options.runs),
    count: Number(options.count),
    watchers: Number(options.watchers),
    sizes: options.sizes.split(',').map(Number),
    kept: Number(options.kept),
  };
  const goals = [];
  console.log(
    `${cpus().length} vCPU (${cpus()[0].model}), ${Math.round(totalmem() / 2 ** 30)} GB; Node ${process.version}; ` +
      `load before: ${loadavg()[0].toFixed(1)}`,
  );
  for (const name of wanted) {
    log(name);
    const { title, text, goals: reached } = await sections[name](context);
    goals.push(...reached);
    console.log(`\n### ${title}\n\n${text}`);
  }
  console.log('');
  for (const { what, got, limit, met } of goals) {
    console.log(`${met ? 'met    ' : 'NOT MET'}  ${what}: ${got} (at most ${limit})`);
  }
}

try {
  await main();
} finally {
  await cleanUp();
}
