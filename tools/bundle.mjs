// @ts-check
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { build } from 'esbuild';

/**
 * Bundles a package's code, one file per entry. Code that entries share goes into chunks, so that it exists once: as few
 * as can be, since Node takes half a millisecond to a whole one for each file, and a hundred small modules 70 ms.
 *
 * @param {string} dir the package
 * @param {string} [outdir] @default its `dist`
 */
export async function bundle(dir, outdir = join(dir, 'dist')) {
  const entryPoints = sourceEntries(dir);
  /** @satisfies {import('esbuild').BuildOptions} */
  const options = {
    absWorkingDir: dir,
    entryPoints,
    outbase: 'src',
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    sourcemap: true,
    sourcesContent: false,
    // Names stay: they are in stack traces.
    minifyWhitespace: true,
    // Node prints the line that an uncaught error comes from: a whole chunk would bury the message.
    lineLimit: 120,
    minifySyntax: true,
    chunkNames: 'chunks/[hash]',
    logLevel: 'warning',
    metafile: true,
  };
  const plain = await build({ ...options, write: false });
  rmSync(join(outdir, 'chunks'), { recursive: true, force: true });
  const layers = layersOf(plain.metafile);
  const plugins = [...layers.values()].some((others) => others.length > 0) ? [wholeLayers(dir, layers)] : [];
  await build({ ...options, plugins, allowOverwrite: true });
  return entryPoints.length;
}

/**
 * What every entry takes from the folders of others, from a first build.
 *
 * @param {import('esbuild').Metafile} metafile
 * @returns {Map<string, string[]>} source of an entry, or of what is loaded later → the other entries' sources
 */
function layersOf({ outputs }) {
  const byEntry = Object.values(outputs).flatMap((output) =>
    output.entryPoint === undefined ? [] : [{ source: output.entryPoint, reached: reachedFrom(output, outputs) }],
  );
  // Kinds are to be had without all the rest.
  const layers = byEntry
    .map(({ source }) => source)
    .filter((source) => /^src\/(?!kinds)[^/]+\/index\.ts$/.test(source));
  return new Map(
    byEntry
      .filter(({ source }) => !source.startsWith('src/kinds/'))
      .map(({ source, reached }) => [
        source,
        layers.filter((layer) => layer !== source && reached.some((path) => path.startsWith(`${dirname(layer)}/`))),
      ]),
  );
}

/**
 * The sources behind an output and the chunks that it imports.
 *
 * @param {import('esbuild').Metafile['outputs'][string]} output @param {import('esbuild').Metafile['outputs']} outputs
 */
function reachedFrom(output, outputs) {
  const seen = new Set([output]);
  for (const { imports } of seen) {
    for (const { path, kind } of imports) {
      const next = outputs[path];
      if (kind === 'import-statement' && next !== undefined) seen.add(next);
    }
  }
  return [...seen].flatMap(({ inputs }) => Object.keys(inputs));
}

/**
 * Makes an entry that takes something from a layer load all of it. Otherwise every subset that some entry takes would be
 * a chunk of its own, two dozen of them.
 *
 * @param {string} dir @param {Map<string, string[]>} layers @returns {import('esbuild').Plugin}
 */
function wholeLayers(dir, layers) {
  return {
    name: 'whole-layers',
    setup({ onLoad, onResolve }) {
      // As if modules had side effects: they stay although none of their names is asked for.
      onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir }) => {
        const source = resolve(resolveDir, path).replace(/\.js$/, '.ts');
        return existsSync(source) ? { path: source, sideEffects: true } : undefined;
      });
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const others = layers.get(relative(dir, path).split(sep).join('/'));
        if (others === undefined || others.length === 0) return undefined;
        const imports = others.map((other) => {
          const from = relative(dirname(path), join(dir, other)).split(sep).join('/');
          return `import '${from.startsWith('.') ? from : `./${from}`}';`;
        });
        return { contents: `${readFileSync(path, 'utf8')}\n${imports.join(' ')}`, loader: 'ts' };
      });
    },
  };
}

/** The source files that the package's exports and programs name. @param {string} dir */
function sourceEntries(dir) {
  const { exports, bin = {} } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
  const programs = Object.values(bin).map((path) => path.replace('/dist/', '/src/').replace(/\.js$/, '.ts'));
  // What is types alone has no code to be loaded.
  const patterns = Object.values(exports).flatMap((e) => (e.default === undefined ? [] : [e['riata-source']]));
  patterns.push(...programs);
  return patterns.flatMap((pattern) => expand(dir, pattern)).sort();
}

/** `./src/x/*.ts` → every file below `src/x`, as a star in an exports map matches slashes too. @param {string} dir @param {string} pattern */
export function expand(dir, pattern) {
  const [before, after] = pattern.split('*');
  if (before === undefined || after === undefined) return [pattern];
  return readdirSync(join(dir, before), { recursive: true, withFileTypes: true })
    .filter((f) => f.isFile() && f.name.endsWith(after))
    .map((f) => `./${relative(dir, join(f.parentPath, f.name))}`);
}
