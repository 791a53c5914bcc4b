// Measures riata beside its peers, keeps the samples, and makes the report of them. See README.md.
//   npm run bench -- [--only=list,watch,apiserver] [--runs=5] [--write]
//   npm run bench -- --report            the report and its charts again, of the samples that are there
//   npm run bench -- --quick             whether all of it works
//   [--subjects=riata,client-go] some of the subjects   [--out=FOLDER] instead of bench/   [--no-build]
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbedded, startReal } from './lib/api-servers.mjs';
import { counts, quickCounts } from './lib/counts.mjs';
import { installClientNode, installPacked, newerNode, packCommand, packRiata } from './lib/install.mjs';
import { rssMbOf } from './lib/process-cost.mjs';
import { goalsTable } from './lib/report.mjs';
import { bench, writeResult } from './lib/results.mjs';
import { sectionsNamed } from './lib/sections.mjs';
import { startServer } from './lib/start-server.mjs';
import { machine, versions } from './lib/versions.mjs';
import { writeReport } from './lib/write-report.mjs';

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string' },
    only: { type: 'string' },
    subjects: { type: 'string' },
    out: { type: 'string' },
    quick: { type: 'boolean', default: false },
    'no-build': { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
  },
});

const { peerDependencies } = JSON.parse(
  readFileSync(new URL('../packages/apiserver/package.json', import.meta.url), 'utf8'),
);
const { devDependencies: rootDependencies } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);
const folder = mkdtempSync(join(tmpdir(), 'riata-bench-'));
const home = resolve(options.out ?? bench);
const log = (text) => process.stderr.write(`${text}\n`);
const nothing = () => {};

/** What sections need, and share: made for the first of them; servers are stopped after the last. */
const shared = {
  tarballs: {
    start: () => {
      log('building and packing riata');
      return packRiata(folder, { build: !options['no-build'] });
    },
    stop: nothing,
  },
  riata: {
    start: async () => installPacked(folder, 'riata', [(await provide('tarballs')).riata]),
    stop: nothing,
  },
  apiserver: {
    start: async () => installPacked(folder, 'apiserver', Object.values(await provide('tarballs'))),
    stop: nothing,
  },
  /** A project's packages: the command, and what an operator is written with. */
  cli: {
    start: async () => {
      const packages = [...Object.values(await provide('tarballs')), ...packCommand(folder)];
      const others = ['zod', 'typescript', '@types/node'].map((name) => `${name}@${rootDependencies[name]}`);
      return installPacked(folder, 'cli', [...packages, ...others]);
    },
    stop: nothing,
  },
  clientNode: { start: () => installClientNode(folder), stop: nothing },
  podServer: {
    start: ({ node, counts: { pods } }) => startServer({ node, folder, pods }),
    stop: (server) => server.stop(),
  },
  apiServers: {
    start: async () => {
      const servers = await startBoth({ home: await provide('apiserver') });
      for (const server of servers) server.idleMb = rssMbOf(server.pids);
      return servers;
    },
    stop: stopAll,
  },
  /** The same, with every write on the disk before it is answered. */
  durableServers: {
    start: async () => {
      const store = `classic-level@${peerDependencies['classic-level']}`;
      const home = installPacked(folder, 'durable', [...Object.values(await provide('tarballs')), store]);
      return startBoth({ home, dataDir: join(home, 'data'), fsync: true });
    },
    stop: stopAll,
  },
};

async function startBoth({ home, dataDir, fsync }) {
  const embedded = await startEmbedded(home, folder, { dataDir });
  try {
    return [embedded, await startReal({ fsync })];
  } catch (error) {
    await embedded.stop();
    throw error;
  }
}

function stopAll(servers) {
  return Promise.all(servers.map((server) => server.stop()));
}

/** Promises of what was started: what fails for one section is not tried again for the next. */
const started = new Map();
function provide(name, context) {
  if (!started.has(name)) started.set(name, (async () => shared[name].start(context))());
  return started.get(name);
}

async function stopShared(isSelected = () => false) {
  for (const [name, { stop }] of Object.entries(shared)) {
    if (stop === nothing || isSelected(name) || !started.has(name)) continue;
    const server = started.get(name);
    started.delete(name);
    await server.then(stop, nothing);
  }
}

async function cleanUp() {
  await stopShared();
  rmSync(folder, { recursive: true, force: true });
}
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    // The processes being measured share the terminal's signal; they end by themselves otherwise.
    void cleanUp().finally(() => process.exit(1));
  });
}

async function main() {
  if (options.report) return report();
  if (options.quick && options.write && !options.out) throw new Error('--quick is not written without --out=FOLDER');
  const selected = sectionsNamed(options.only);
  const began = performance.now();
  const node = newerNode(24);
  const context = {
    ...{ node, oldNode: process.execPath, folder, log },
    runs: Number(options.runs ?? (options.quick ? 1 : 5)),
    counts: options.quick ? quickCounts : counts,
    subjects: options.subjects?.split(','),
  };
  const failed = [];
  const reported = new Set();
  const found = [];
  const times = [];
  for (const [at, section] of selected.entries()) {
    await stopShared((name) => selected.slice(at).some(({ needs = [] }) => needs.includes(name)));
    const from = performance.now();
    log(section.name);
    try {
      const result = await run(section, context);
      found.push({ section, result, described: section.describe(result.data) });
      if (options.write) writeResult(home, section.name, result);
      else print(found.at(-1));
    } catch (error) {
      failed.push(section.name);
      // A shared failure fails all sections that need it; it is reported once.
      log(`${section.name} failed: ${reported.has(error) ? 'for the same reason' : error.stack}`);
      reported.add(error);
    }
    times.push(`${section.name} ${Math.round((performance.now() - from) / 1000)} s`);
  }
  console.log(`\nGoals\n\n${goalsTable(found)}`);
  if (options.write) await report();
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  console.log(`\n${minutes} minutes: ${times.join(', ')}`);
  if (failed.length > 0) {
    console.log(`Failed: ${failed.join(', ')}. Their figures are those of before.`);
    process.exitCode = 1;
  }
}

/** Measures one section, with what its samples were taken under. */
async function run(section, context) {
  const provided = {};
  for (const name of section.needs ?? []) provided[name] = await provide(name, context);
  const load = Number(loadavg()[0].toFixed(2));
  const from = performance.now();
  const runs = section.rounds?.(context.runs) ?? context.runs;
  const data = await section.measure({ ...context, ...provided, runs });
  const seconds = Math.round((performance.now() - from) / 1000);
  const date = new Date().toISOString().slice(0, 10);
  const about = { section: section.name, date, machine: machine(), load, rounds: runs, seconds };
  return { ...about, versions: versions(context), data };
}

function print({ described: { title, parts } }) {
  console.log(`\n### ${title}\n\n${parts.join('\n\n')}`);
}

async function report() {
  const { page, charts } = await writeReport(home);
  console.log(`\n${page} and ${charts} charts are written`);
}

try {
  await main();
} finally {
  await cleanUp();
}
