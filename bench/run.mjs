// Measures riata beside @kubernetes/client-node, client-go, controller-runtime, wrangler and kube-rs. See README.md.
//   npm run bench -- [--runs=5] [--pods=50000] [--only=size,imports,first-list,list,watch,informer,controller,apply] [--no-build] [--write]
//   npm run bench -- --only=informer [--subjects=riata,client-go] [--sizes=50000,10000]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installClientNode, installRiata, newerNode } from './lib/install.mjs';
import { startServer } from './lib/start-server.mjs';
import { apply } from './sections/apply.mjs';
import { controller } from './sections/controller.mjs';
import { firstList } from './sections/first-list.mjs';
import { imports } from './sections/imports.mjs';
import { informer } from './sections/informer.mjs';
import { list } from './sections/list.mjs';
import { size } from './sections/size.mjs';
import { watch } from './sections/watch.mjs';

const sections = { size, imports, 'first-list': firstList, list, watch, informer, controller, apply };
const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    pods: { type: 'string', default: '50000' },
    only: { type: 'string', default: Object.keys(sections).join(',') },
    subjects: { type: 'string' },
    sizes: { type: 'string' },
    'no-build': { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
/** Sections with servers and figures of their own. */
const pageOf = { informer: 'figures of informers', controller: 'figures of controllers', apply: 'figures of apply' };
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
  if (wanted.some((name) => !Object.hasOwn(pageOf, name))) {
    log('making the bytes that the server sends');
    server = await startServer({ node, folder, pods, events });
  }

  const context = {
    riata,
    clientNode,
    node,
    oldNode: process.execPath,
    runs: Number(options.runs),
    server,
    pods,
    events,
    folder,
    log,
    subjects: options.subjects?.split(','),
    sizes: options.sizes?.split(',').map(Number),
  };
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  const machine = `${cpus().length} vCPU (${cpus()[0].model}), ${Math.round(totalmem() / 2 ** 30)} GB; Node ${version}, “Node 20” is ${process.version}; load before: ${loadavg()[0].toFixed(1)}`;
  const all = [];
  const pages = Object.fromEntries(['figures', ...Object.values(pageOf)].map((mark) => [mark, []]));
  for (const name of wanted) {
    log(name);
    const section = await sections[name](context);
    pages[pageOf[name] ?? 'figures'].push(section);
    all.push(...section.goals);
    console.log(`\n${section.title}\n${section.text}`);
  }
  console.log(`\n${machine}\n\nGoals`);
  for (const { what, got, limit, met } of all)
    console.log(`${met ? 'met    ' : 'NOT MET'}  ${what}: ${got} (at most ${limit})`);
  if (!options.write) return;
  for (const [mark, found] of Object.entries(pages)) if (found.length > 0) writeFigures(mark, machine, found);
}

/** Puts the figures between two marks of README.md. */
function writeFigures(mark, machine, found) {
  const outcome = found.flatMap(({ goals }) =>
    goals.map(({ what, got, limit, met }) => `| ${what} | ${limit} | ${got} | ${met ? 'met' : '**not met**'} |`),
  );
  const goals = ['| goal | at most | measured | |', '|---|--:|--:|---|', ...outcome].join('\n');
  const text = [machine, goals, ...found.map((section) => `### ${section.title}\n\n${section.text}`)].join('\n\n');
  const file = new URL('./README.md', import.meta.url);
  const before = readFileSync(file, 'utf8');
  const [begin, end] = [`<!-- ${mark} -->\n`, `\n<!-- end of ${mark} -->`];
  const [from, to] = [before.indexOf(begin), before.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`bench/README.md has lost its marks for the ${mark}`);
  writeFileSync(file, `${before.slice(0, from + begin.length)}\n${text}\n${before.slice(to)}`);
}

try {
  await main();
} finally {
  await cleanUp();
}
