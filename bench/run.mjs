// Measures riata beside @kubernetes/client-node. See README.md.
//   npm run bench -- [--runs=5] [--pods=50000] [--only=size,imports,first-list,list,watch] [--no-build] [--write]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installClientNode, installRiata, newerNode } from './lib/install.mjs';
import { startServer } from './lib/start-server.mjs';
import { firstList } from './sections/first-list.mjs';
import { imports } from './sections/imports.mjs';
import { list } from './sections/list.mjs';
import { size } from './sections/size.mjs';
import { watch } from './sections/watch.mjs';

const sections = { size, imports, 'first-list': firstList, list, watch };
const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    pods: { type: 'string', default: '50000' },
    only: { type: 'string', default: Object.keys(sections).join(',') },
    'no-build': { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const EVENTS_AT_ONCE = 5000;

const folder = mkdtempSync(join(tmpdir(), 'riata-bench-'));
let server;
async function cleanUp() {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    // The processes being measured share the terminal's signal; they end by themselves otherwise.
    void cleanUp().finally(() => process.exit(1));
  });
}

const log = (text) => process.stderr.write(`${text}\n`);

async function main() {
  const wanted = options.only.split(',');
  const unknown = wanted.filter((name) => !Object.hasOwn(sections, name));
  if (unknown.length > 0)
    throw new Error(`--only knows ${Object.keys(sections).join(', ')}; got ${unknown.join(', ')}`);
  const pods = Number(options.pods);
  const events = Math.ceil(pods / Math.min(pods, EVENTS_AT_ONCE)) * Math.min(pods, EVENTS_AT_ONCE);
  log('installing');
  const node = newerNode(24);
  const riata = installRiata(folder, { build: !options['no-build'] });
  const clientNode = installClientNode();
  log('making the bytes that the server sends');
  server = await startServer({ node, folder, pods, events });

  const context = {
    riata,
    clientNode,
    node,
    oldNode: process.execPath,
    runs: Number(options.runs),
    server,
    pods,
    events,
  };
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  const machine = `${cpus().length} vCPU (${cpus()[0].model}), ${Math.round(totalmem() / 2 ** 30)} GB; Node ${version}, “Node 20” is ${process.version}; load before: ${loadavg()[0].toFixed(1)}`;
  const parts = [machine];
  const goals = [];
  for (const name of wanted) {
    log(name);
    const { title, text, goals: reached } = await sections[name](context);
    parts.push(`### ${title}\n\n${text}`);
    goals.push(...reached);
    console.log(`\n${title}\n${text}`);
  }
  const outcome = goals.map(
    ({ what, got, limit, met }) => `| ${what} | ${limit} | ${got} | ${met ? 'met' : '**not met**'} |`,
  );
  parts.splice(1, 0, ['| goal | at most | measured | |', '|---|--:|--:|---|', ...outcome].join('\n'));
  console.log(`\n${machine}\n\nGoals`);
  for (const { what, got, limit, met } of goals)
    console.log(`${met ? 'met    ' : 'NOT MET'}  ${what}: ${got} (at most ${limit})`);
  if (options.write) writeFigures(parts.join('\n\n'));
}

/** Puts the figures between the two marks of README.md. */
function writeFigures(text) {
  const file = new URL('./README.md', import.meta.url);
  const before = readFileSync(file, 'utf8');
  const after = before.replace(
    /(<!-- figures -->\n).*(\n<!-- end of figures -->)/s,
    (_, a, b) => `${a}\n${text}\n${b}`,
  );
  if (after === before) throw new Error('bench/README.md has lost its marks for the figures');
  writeFileSync(file, after);
}

try {
  await main();
} finally {
  await cleanUp();
}
