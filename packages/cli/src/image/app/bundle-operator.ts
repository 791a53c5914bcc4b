import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, sep } from 'node:path';
import { describeError } from 'riata/runtime';
import { type OutputChunk, type Plugin, rolldown } from 'rolldown';
import { CommandError } from '../../command/command-error.js';
import { type BundledPackage, packageOf } from './bundled-package.js';

/** What {@link bundleOperator} takes. */
export interface BundleOperatorOptions {
  /** The project's folder: paths in source maps are relative to it. */
  readonly folder: string;
  /** The module that exports `definitions` and `options`. */
  readonly main: string;
  /** Export conditions beside Node's own. @default none */
  readonly conditions?: readonly string[];
}

/** An operator and its packages in a few files, without `node_modules`. */
export interface OperatorBundle {
  /** By name: `main.mjs` is the program. */
  readonly files: ReadonlyMap<string, string | Uint8Array>;
  /** All packages that have code in it, by name and version, without the project itself. */
  readonly packages: readonly BundledPackage[];
}

/**
 * Starts the operator whether or not its main module does so itself when it is the program: here it is not, since it has a
 * file of its own.
 */
const program = `import { run } from 'riata';
import * as operator from 'riata:operator';
if (Array.isArray(operator.definitions)) await run(...operator.definitions, ...(operator['options'] ? [operator['options']] : []));
`;

/** Bundles an operator with all of its packages for Node 20 and later. Rejects with what cannot be bundled. */
export async function bundleOperator(options: BundleOperatorOptions): Promise<OperatorBundle> {
  const { folder, main, conditions = [] } = options;
  try {
    const build = await rolldown({
      cwd: folder,
      input: { main: 'riata:program', operator: main },
      platform: 'node',
      tsconfig: tsconfigOf(folder) ?? false,
      resolve: {
        conditionNames: [...conditions, 'node', 'import', 'default'],
        extensionAlias: { '.js': ['.ts', '.tsx', '.js'], '.mjs': ['.mts', '.mjs'] },
      },
      plugins: [entryPlugin(main), missingPlugin(folder)],
      transform: { target: 'node20', define: { 'process.env.NODE_ENV': '"production"' } },
      logLevel: 'silent',
    });
    try {
      const { output } = await build.generate({
        dir: join(folder, 'dist'),
        format: 'esm',
        sourcemap: true,
        // Stack traces need positions alone; sources would be half of the image.
        sourcemapExcludeSources: true,
        sourcemapPathTransform: (path, map) => sourceName(folder, join(dirname(map), path)),
        comments: { legal: true, annotation: false, jsdoc: false },
        entryFileNames: '[name].mjs',
        chunkFileNames: 'chunks/[name]-[hash].mjs',
      });
      const chunks = output.filter((each): each is OutputChunk => each.type === 'chunk');
      const files = output.map((each) => [each.fileName, each.type === 'chunk' ? each.code : each.source] as const);
      const required = await Promise.all(requiredLater.map((name) => bundlePackage(name, folder)));
      return {
        files: new Map([...files, ...required.flatMap((each) => each.files)]),
        packages: packagesIn([...chunks, ...required.flatMap((each) => each.chunks)], folder),
      };
    } finally {
      await build.close();
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`cannot bundle ${relative(folder, main)}: ${describeError(error)}`, { cause: error });
  }
}

/** Packages that riata loads by `require` if a program uses them, which bundlers do not see. */
const requiredLater: readonly string[] = ['prom-client'];

/** A package in one file, where `require` finds it; no files if it is not installed. */
async function bundlePackage(name: string, folder: string) {
  const require = createRequire(join(folder, 'package.json'));
  let input: string;
  try {
    input = require.resolve(name);
  } catch {
    return { files: [], chunks: [] };
  }
  const build = await rolldown({
    cwd: folder,
    input,
    platform: 'node',
    transform: { target: 'node20' },
    logLevel: 'silent',
  });
  try {
    const { output } = await build.generate({
      format: 'cjs',
      codeSplitting: false,
      comments: { legal: true, annotation: false, jsdoc: false },
    });
    const [chunk] = output;
    const version = packageOf(realpathSync(input))?.version ?? '0.0.0';
    const packageJson = `${JSON.stringify({ name, version, main: 'index.cjs' }, null, 2)}\n`;
    const at = `node_modules/${name}`;
    const files: [string, string][] = [
      [`${at}/index.cjs`, chunk.code],
      [`${at}/package.json`, packageJson],
    ];
    return { files, chunks: [chunk] };
  } finally {
    await build.close();
  }
}

function entryPlugin(main: string): Plugin {
  return {
    name: 'riata:program',
    async resolveId(source, importer, { kind }) {
      if (source === 'riata:program') return source;
      if (source === 'riata:operator') return main;
      // As the operator sees it: the same copy of riata.
      return importer === 'riata:program' ? this.resolve(source, main, { kind, skipSelf: true }) : null;
    },
    load: (id) => (id === 'riata:program' ? program : null),
  };
}

/** Refuses at build time what would end the program at its start. What is imported later may be meant to be missing. */
function missingPlugin(folder: string): Plugin {
  return {
    name: 'riata:missing',
    async resolveId(source, importer, { kind }) {
      if (importer === undefined || kind !== 'import-statement' || /^(?:node:|\0|riata:)/.test(source)) return null;
      const found = await this.resolve(source, importer, { kind, skipSelf: true });
      if (found !== null) return found;
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(source)?.[0] ?? source;
      const remedy = source.startsWith('.') ? '' : `; install it: npm install ${name}`;
      throw new CommandError(`cannot bundle ${sourceName(folder, importer)}: "${source}" not found${remedy}`);
    },
  };
}

function packagesIn(chunks: readonly OutputChunk[], folder: string): BundledPackage[] {
  const own = packageOf(join(folder, 'package.json'))?.folder;
  const packages = new Map<string, BundledPackage>();
  for (const { modules } of chunks) {
    for (const [id, { renderedLength }] of Object.entries(modules)) {
      const path = id.replace(/\?.*$/, '');
      if (renderedLength === 0 || !existsSync(path)) continue;
      const found = packageOf(realpathSync(path));
      if (found === undefined || found.folder === own) continue;
      if (found.isNative) throw nativeError(found);
      packages.set(`${found.name}@${found.version}`, found);
    }
  }
  return [...packages].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

function nativeError({ name }: BundledPackage): CommandError {
  return new CommandError(
    `cannot bundle the package ${name}: it has native code, which depends on the platform; use a Dockerfile with npm ci, or another package`,
  );
}

/** `node_modules/zod/index.js` wherever that is, so that the same operator gives the same bytes in any folder. */
function sourceName(folder: string, path: string): string {
  const parts = path.split(sep);
  const at = parts.lastIndexOf('node_modules');
  const isOwn = !relative(folder, path).startsWith('..');
  if (isOwn) return relative(folder, path).split(sep).join('/');
  return at === -1 ? `../${basename(dirname(path))}/${basename(path)}` : parts.slice(at).join('/');
}

function tsconfigOf(folder: string): string | undefined {
  const path = join(folder, 'tsconfig.json');
  if (existsSync(path)) return path;
  const above = dirname(folder);
  return above === folder ? undefined : tsconfigOf(above);
}
