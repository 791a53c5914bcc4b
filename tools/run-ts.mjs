// @ts-check
/** `node tools/run-ts.mjs main.ts [args]`: runs a TypeScript program against the source of the packages, without a build. */
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'rolldown';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `Riata needs Node 20.19 or newer; this is ${process.version}. Install a newer one, e.g. from nodejs.org.`,
  );
  process.exit(1);
}
const [program, ...args] = process.argv.slice(2);
if (program === undefined) {
  console.error('usage: node tools/run-ts.mjs main.ts [args]');
  process.exit(2);
}
// `npm run test:packed`: the packages are as a user installs them, with no source in between.
const isPacked = process.env.RIATA_PACKED === 'true';
// Inside the repository, so that the packages left outside the bundle are found.
const root = fileURLToPath(new URL('../node_modules/.cache/run-ts', import.meta.url));
mkdirSync(root, { recursive: true });
const outfile = join(root, `${process.pid}.mjs`);
await build({
  input: resolve(program),
  platform: 'node',
  resolve: { conditionNames: ['riata-source', 'node', 'import', 'default'] },
  external: ['yaml', 'zod', 'classic-level', ...(isPacked ? [/^(?:riata|@riata\/[^/]+)(?:\/|$)/] : [])],
  transform: { target: 'node20' },
  output: { file: outfile, format: 'esm', sourcemap: 'inline', codeSplitting: false },
});
process.on('exit', () => rmSync(outfile, { force: true }));
process.argv = [process.execPath, resolve(program), ...args];
await import(pathToFileURL(outfile).href);
