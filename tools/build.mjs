// @ts-check
/**
 * Builds every package: declarations by tsc, code bundled per entry by esbuild (a hundred small ES modules cost 70 ms
 * to import, one 15 ms; code that entries share goes into chunks, so that it exists once).
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

for (const name of readdirSync(join(root, 'packages'))) {
  const dir = join(root, 'packages', name);
  if (!existsSync(join(dir, 'tsconfig.build.json'))) continue;
  rmSync(join(dir, 'dist'), { recursive: true, force: true });
  execFileSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(dir, 'tsconfig.build.json')],
    {
      stdio: 'inherit',
    },
  );
  const entryPoints = sourceEntries(dir);
  await build({
    absWorkingDir: dir,
    entryPoints,
    outbase: 'src',
    outdir: 'dist',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    sourcemap: true,
    sourcesContent: false,
    chunkNames: 'chunks/[hash]',
    logLevel: 'warning',
  });
  console.log(`${name}: ${entryPoints.length} entries built`);
}

/** The source files that the package's exports and programs name. @param {string} dir */
function sourceEntries(dir) {
  const { exports, bin = {} } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
  const programs = Object.values(bin).map((path) => path.replace('/dist/', '/src/').replace(/\.js$/, '.ts'));
  const patterns = Object.values(exports).flatMap((e) => (typeof e === 'object' ? [e['riata-source']] : []));
  patterns.push(...programs);
  return patterns.flatMap((pattern) => expand(dir, pattern)).sort();
}

/** `./src/x/*.ts` → every file below `src/x`, as a star in an exports map matches slashes too. @param {string} dir @param {string} pattern */
function expand(dir, pattern) {
  const [before, after] = pattern.split('*');
  if (before === undefined || after === undefined) return [pattern];
  return readdirSync(join(dir, before), { recursive: true, withFileTypes: true })
    .filter((f) => f.isFile() && f.name.endsWith(after))
    .map((f) => `./${relative(dir, join(f.parentPath, f.name))}`);
}
