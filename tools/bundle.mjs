// @ts-check
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { rolldown } from 'rolldown';

/**
 * Bundles a package's code, one file per entry. Code that entries share goes into chunks, so that it exists once: one for
 * each layer, since Node takes half a millisecond to a whole one for each file, and a hundred small modules 70 ms. A chunk
 * has the name of its layer, and lines are kept as they are: both show in stack traces without source maps.
 *
 * The bundler is the one whose compiler runs the tests. esbuild is not an option: it compiles `using` in a loop wrongly
 * (an iteration that threw makes all later ones throw the same error).
 *
 * @param {string} dir the package
 * @param {string} [outdir] @default its `dist`
 */
export async function bundle(dir, outdir = join(dir, 'dist')) {
  const entries = sourceEntries(dir);
  const build = await rolldown({
    cwd: dir,
    input: Object.fromEntries(entries.map((path) => [path.replace(/^\.\/src\//, '').replace(/\.ts$/, ''), path])),
    platform: 'node',
    // Packages stay outside, but for what the compiler adds.
    external: /^(?!@oxc-project\/runtime)[^./\0]/,
    transform: { target: 'node20' },
    preserveEntrySignatures: 'strict',
    onLog(level, log, report) {
      if (level === 'warn') throw new Error(`${log.code ?? 'warning'}: ${log.message}`);
      report(level, log);
    },
  });
  rmSync(join(outdir, 'chunks'), { recursive: true, force: true });
  await build.write({
    dir: outdir,
    format: 'esm',
    sourcemap: true,
    sourcemapExcludeSources: true,
    comments: { legal: true, annotation: false, jsdoc: false },
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    codeSplitting: { groups: layerGroups(dir, entries) },
  });
  await build.close();
  return entries.length;
}

/**
 * A chunk for each layer, lower ones first, so that none takes in what belongs to one below it. Kinds can be imported
 * without the rest, so what they need of other layers is a chunk of its own. What is loaded later is left to the bundler.
 *
 * @param {string} dir @param {string[]} entries
 * @returns {import('rolldown').CodeSplittingGroup[]}
 */
function layerGroups(dir, entries) {
  const layers = entries.flatMap((path) => /^\.\/src\/([^/]+)\/index\.ts$/.exec(path)?.[1] ?? []);
  if (layers.length === 0) return [];
  const ofKinds = entries.filter((path) => path.startsWith('./src/kinds/'));
  const others = entries.filter((path) => !ofKinds.includes(path));
  /** @param {string} id @param {string} layer */
  const isIn = (id, layer) => id.startsWith(join(dir, 'src', layer) + sep);
  return [
    group('kind-core', (id) => !isIn(id, 'kinds'), ofKinds),
    ...layers.map((layer) => group(layer, (id) => isIn(id, layer), others)),
  ].map((each, index, all) => ({ ...each, priority: all.length - index }));

  /** @param {string} name @param {(id: string) => boolean} test @param {string[]} from */
  function group(name, test, from) {
    /** @type {Set<string> | undefined} */
    let reached;
    return {
      debugName: name,
      /** @param {string} id @param {import('rolldown').ChunkingContext} modules */
      name: (id, modules) => {
        if (!test(id)) return null;
        reached ??= reachedFrom(from, modules);
        return reached.has(id) ? name : null;
      },
    };
  }

  /** @param {string[]} paths @param {import('rolldown').ChunkingContext} modules */
  function reachedFrom(paths, modules) {
    const ids = new Set(paths.map((path) => join(dir, path)));
    for (const id of ids) for (const next of modules.getModuleInfo(id)?.importedIds ?? []) ids.add(next);
    return ids;
  }
}

/** The source files that the package's exports and programs name. @param {string} dir */
function sourceEntries(dir) {
  const { exports, bin = {} } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
  const programs = Object.values(bin).map((path) => path.replace('/dist/', '/src/').replace(/\.js$/, '.ts'));
  // What is types alone has no code to be loaded.
  const patterns = Object.values(exports).flatMap((e) => (e.default === undefined ? [] : [e['riata-source']]));
  patterns.push(...programs);
  return patterns.flatMap((pattern) => expand(dir, pattern));
}

/** `./src/x/*.ts` → every file below `src/x`, as a star in an exports map matches slashes too. @param {string} dir @param {string} pattern */
export function expand(dir, pattern) {
  const [before, after] = pattern.split('*');
  if (before === undefined || after === undefined) return [pattern];
  return readdirSync(join(dir, before), { recursive: true, withFileTypes: true })
    .filter((f) => f.isFile() && f.name.endsWith(after))
    .map((f) => `./${relative(dir, join(f.parentPath, f.name))}`);
}
