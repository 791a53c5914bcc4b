// @ts-check
/** `npm run check`: format and lint, types, layers, packages. Runs all of them and says which failed. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
/** @type {string[]} */
const failed = [];

// Found here rather than by npx, which takes a second for each of them.
const path = `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}`;

/** @param {string} title @param {string} command @param {string[]} args @param {string} [cwd] */
function step(title, command, args, cwd = root) {
  console.log(`\n— ${title}`);
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit', env: { ...process.env, PATH: path } });
  if (status !== 0) failed.push(title);
  return status === 0;
}

step('format and lint', 'biome', ['check', '.']);
const examples = readdirSync(join(root, 'examples')).map((name) => `examples/${name}`);
for (const project of [
  'packages/riata',
  'packages/apiserver',
  'packages/testing',
  'packages/sandbox',
  'packages/cli',
  'packages/create-riata',
  'packages/dashboard',
  ...examples,
  'docs/code',
  'tools',
  'tools/control-plane',
])
  step(`types of ${project}`, 'tsc', ['--noEmit', '-p', project]);
step('words', 'node', ['tools/check-words.mjs']);
step('module state', 'node', ['tools/check-module-state.mjs']);
step('sizes of folders and files', 'node', ['tools/tree-report.mjs']);
step('layers, rooms and seams', 'vitest', ['run', '--project', 'unit', 'packages/riata/src/boundaries.test.ts']);
if (step('build', 'node', ['tools/build.mjs'])) {
  step('what an old Node says', 'node', ['tools/check-old-node.mjs']);
  const out = mkdtempSync(join(tmpdir(), 'riata-pack-'));
  try {
    for (const name of readdirSync(join(root, 'packages'))) {
      const dir = join(root, 'packages', name);
      const { private: hidden, name: full, version } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
      if (hidden) continue;
      if (!step(`pack ${name}`, 'npm', ['pack', '--silent', '--pack-destination', out], dir)) continue;
      const tarball = join(out, `${full.replace('@', '').replace('/', '-')}-${version}.tgz`);
      if (name === 'riata')
        step('declarations of what users export', 'node', ['tools/check-declarations.mjs', tarball]);
      step(`publint ${name}`, 'publint', ['run', tarball, '--strict']);
      step(`are the types wrong: ${name}`, 'attw', [
        tarball,
        '--profile',
        'esm-only',
        '--format',
        'ascii',
        '--no-emoji',
      ]);
    }
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

if (failed.length > 0) {
  console.error(`\ncheck failed: ${failed.join(', ')}`);
  process.exit(1);
}
console.log('\ncheck: all well');
