import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { type OutputAsset, type OutputChunk, rolldown } from 'rolldown';

/** Bundles that are kept: a process that runs may still import parts of an earlier one. */
const kept = 50;

/** What {@link bundleSource} takes. */
export interface BundleSourceOptions {
  /** The absolute path of the module to start from. */
  readonly entry: string;
  /** Where bundles go, each in a folder of its own; inside the project, so that packages are found from there. */
  readonly cacheDir: string;
  /** Export conditions beside Node's own. @default none */
  readonly conditions?: readonly string[];
  /** Leaves code without effect as it is, so that a debugger shows all variables. @default false */
  readonly asWritten?: boolean;
}

/** A bundle on disk. */
export interface SourceBundle {
  /** The file to import. Its path depends on the contents: Node imports each path once. */
  readonly file: string;
  /** The paths of all source files in it. */
  readonly sources: readonly string[];
}

/**
 * Compiles the TypeScript of a project to files that Node can import, with source maps. Packages in `node_modules` are left
 * outside; what resolves to a folder elsewhere, as the packages of a workspace do, is the user's own source and is compiled
 * as well.
 */
export async function bundleSource(options: BundleSourceOptions): Promise<SourceBundle> {
  const { entry, cacheDir, conditions = [], asWritten = false } = options;
  const build = await rolldown({
    cwd: dirname(entry),
    input: { main: entry },
    platform: 'node',
    ...(asWritten && { treeshake: false }),
    tsconfig: tsconfigOf(dirname(entry)) ?? false,
    resolve: {
      conditionNames: [...conditions, 'node', 'import', 'default'],
      extensionAlias: { '.js': ['.ts', '.tsx', '.js'], '.mjs': ['.mts', '.mjs'] },
    },
    plugins: [
      {
        name: 'riata:packages',
        async resolveId(source, importer) {
          if (importer === undefined || /^(?:\.{0,2}\/|[a-zA-Z]:\\|\0)/.test(source)) return null;
          if (source.startsWith('node:')) return { id: source, external: true };
          const found = await this.resolve(source, importer, { skipSelf: true });
          if (found === null || found.external) return { id: source, external: true };
          return isInPackage(found.id) ? { id: source, external: true } : found;
        },
      },
    ],
    transform: { target: 'node20' },
    logLevel: 'silent',
  });
  try {
    // As if written to a folder of `cacheDir`: the paths of the sources in the source maps are relative to it.
    const { output } = await build.generate({
      dir: join(cacheDir, 'bundle'),
      format: 'esm',
      sourcemap: true,
      ...(asWritten && { minify: false }),
      entryFileNames: '[name].mjs',
      chunkFileNames: '[name]-[hash].mjs',
    });
    const chunks = output.filter((each): each is OutputChunk => each.type === 'chunk');
    const sources = chunks.flatMap(({ moduleIds }) => moduleIds).filter((id) => !id.startsWith('\0'));
    return { file: await writeBundle(cacheDir, output), sources: [...new Set(sources)].sort() };
  } finally {
    await build.close();
  }
}

async function writeBundle(cacheDir: string, output: readonly (OutputChunk | OutputAsset)[]): Promise<string> {
  const files = output.map((each) => [each.fileName, each.type === 'chunk' ? each.code : each.source] as const);
  const hash = createHash('sha256');
  for (const [name, content] of files) hash.update(`${name}\0`).update(content).update('\0');
  const folder = join(cacheDir, hash.digest('hex').slice(0, 16));
  const file = join(folder, 'main.mjs');
  if (existsSync(file)) return file;
  // Renamed when it is complete: another process may look for the same bundle.
  const unfinished = `${folder}.${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  for (const [name, content] of files) await writeFile(join(unfinished, name), content);
  await rename(unfinished, folder).catch(async (error: unknown) => {
    await rm(unfinished, { recursive: true, force: true });
    if (!existsSync(file)) throw error;
  });
  await removeOldest(cacheDir);
  return file;
}

async function removeOldest(cacheDir: string): Promise<void> {
  const names = await readdir(cacheDir);
  if (names.length <= kept) return;
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(cacheDir, name);
      return { path, changed: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 };
    }),
  );
  const old = found.sort((a, b) => b.changed - a.changed).slice(kept);
  for (const { path } of old) await rm(path, { recursive: true, force: true });
}

/** Whether a file belongs to an installed package, links followed: those of a workspace lead out of `node_modules`. */
function isInPackage(path: string): boolean {
  return realpathSync(path).split(sep).includes('node_modules');
}

function tsconfigOf(folder: string): string | undefined {
  const path = join(folder, 'tsconfig.json');
  if (existsSync(path)) return path;
  const above = dirname(folder);
  return above === folder ? undefined : tsconfigOf(above);
}
