#!/usr/bin/env node
// @ts-check
/**
 * `npm run test:packed`: the behaviour and fault suites on the packages as a user installs them. Packs every package,
 * installs the tarballs in a folder outside of the repository, copies the suites there and runs them on the oldest Node
 * that is supported (server over HTTPS) and on the newest (server in-process). Arguments that vitest knows are passed on; `--node=20,24` names other versions.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** What the suites import besides the packages, in the versions of the repository. */
const tools = [
  '@sinclair/typebox',
  '@valibot/to-json-schema',
  'arktype',
  'fast-check',
  'pino',
  'prom-client',
  'rolldown',
  'valibot',
  'vite',
  'vitest',
  'zod',
];

const [versions, args] = readArguments(process.argv.slice(2));
const folder = mkdtempSync(join(tmpdir(), 'riata-packed-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const [signal, code] of /** @type {const} */ ([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
]))
  process.on(signal, () => process.exit(code));

setUp();
/** @type {string[]} */
const failed = [];
/** What one simulation does, by version: the same everywhere. @type {Map<string, string>} */
const histories = new Map();
for (const [index, version] of versions.entries()) {
  const node = nodeBinary(version);
  const title = `on Node ${execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()}`;
  console.log(`\n— packed packages ${title}`);
  const run = [join(folder, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'packed', ...args];
  // Each suite on each Node, on one of the embedded servers, as both would take twice as long.
  const env = { ...process.env, RIATA_SERVERS: index === 0 ? 'https' : 'in-process' };
  if (spawnSync(node, run, { cwd: folder, stdio: 'inherit', env }).status !== 0) failed.push(title);
  const { stdout } = spawnSync(node, ['tools/packed/simulate-hash.mjs'], {
    ...{ cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  });
  histories.set(title, stdout.trim() || 'none');
  console.log(`simulate() ${title}: ${histories.get(title)}`);
}
if (new Set(histories.values()).size > 1 || [...histories.values()].includes('none'))
  failed.push('as simulate() has other histories on other versions of Node');
if (args.length === 0) {
  console.log('\n— packed packages, with a real control plane');
  const plane = [join(root, 'tools/control-plane/main.mjs'), 'run', '--'];
  const run = [process.execPath, join(folder, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'packed-real'];
  if (spawnSync(process.execPath, [...plane, ...run], { cwd: folder, stdio: 'inherit' }).status !== 0)
    failed.push('with a real control plane');
}
if (failed.length > 0) {
  console.error(`\ntest:packed failed ${failed.join(', ')}`);
  process.exitCode = 1;
}

/** @param {string[]} given @returns {[versions: string[], rest: string[]]} */
function readArguments(given) {
  const option = given.find((argument) => argument.startsWith('--node='));
  const rest = given.filter((argument) => argument !== option);
  return [option === undefined ? ['20', 'latest'] : option.slice('--node='.length).split(','), rest];
}

function setUp() {
  execFileSync(process.execPath, [join(root, 'tools/build.mjs')], { stdio: 'inherit' });
  const tarballs = join(folder, 'tarballs');
  mkdirSync(tarballs);
  /** @type {Record<string, string>} */
  const dependencies = {};
  for (const name of readdirSync(join(root, 'packages'))) {
    const dir = join(root, 'packages', name);
    const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', tarballs], {
      cwd: dir,
      encoding: 'utf8',
    });
    dependencies[JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')).name] = `file:tarballs/${packed.trim()}`;
    for (const part of ['behaviour', 'faults', 'fixtures', 'soak', 'src']) copy(join('packages', name, part));
  }
  for (const part of ['examples', 'docs', 'tools']) copy(part);
  cpSync(join(root, 'tools/packed/vitest.config.ts'), join(folder, 'vitest.config.ts'));
  for (const name of tools)
    dependencies[name] = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version;
  const { overrides } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const manifest = { name: 'riata-packed', private: true, type: 'module', dependencies, overrides };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, undefined, 2));
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefer-offline'], {
    cwd: folder,
    stdio: 'inherit',
  });
}

/** @param {string} path */
function copy(path) {
  const filter = (/** @type {string} */ from) =>
    !/[/\\](?:node_modules|dist|package\.json|tsconfig[^/\\]*\.json)$/.test(from);
  if (existsSync(join(root, path))) cpSync(join(root, path), join(folder, path), { recursive: true, filter });
}

/** The binary of a version, from npm's `node` package unless it is the one that runs this. @param {string} version */
function nodeBinary(version) {
  if (process.versions.node === version || process.versions.node.startsWith(`${version}.`)) return process.execPath;
  const print = ['--yes', '--package', `node@${version}`, '--', 'node', '-p', 'process.execPath'];
  return execFileSync('npx', print, { cwd: folder, encoding: 'utf8' }).trim();
}
