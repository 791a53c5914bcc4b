import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeError } from 'riata/runtime';
import { CommandError } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import type { ProjectOptions } from '../command/project-options.js';
import { type BundleSourceOptions, bundleSource } from './bundle-source.js';
import { isOperatorConfig, type OperatorConfig } from './operator.js';
import { type Operator, type ProjectPackage, resolveOperator } from './resolve-operator.js';

const fileName = 'riata.config.ts';

/** A project's config, read. */
export interface LoadedConfig {
  readonly config: OperatorConfig;
  /** All exports of the config file: a chart is one of them. */
  readonly exports: Readonly<Record<string, unknown>>;
  /** The config file. */
  readonly path: string;
  /** Its folder. */
  readonly folder: string;
  readonly packageJson: ProjectPackage & Readonly<Record<string, unknown>>;
  /** The source files that were read, the config among them. */
  readonly sources: readonly string[];
}

/** A project whose config and source are compiled. */
export interface BuiltProject {
  /** The config file. */
  readonly path: string;
  /** The compiled file to import. */
  readonly file: string;
  /** The source files that were read, the config among them. */
  readonly sources: readonly string[];
}

/** Reads `riata.config.ts`, without importing the operator itself. */
export async function loadProjectConfig(io: CommandIo, options: ProjectOptions = {}): Promise<LoadedConfig> {
  return importConfig(await buildProject(io, options));
}

/** Reads `riata.config.ts` and the operator that it describes. */
export async function loadOperator(io: CommandIo, options: ProjectOptions = {}): Promise<LoadedOperator> {
  return importOperator(await buildProject(io, options));
}

/** A project's config and its operator. */
export interface LoadedOperator extends LoadedConfig {
  readonly operator: Operator;
}

/** Compiles a project: nothing of it runs. `asWritten`: for debuggers, see {@link BundleSourceOptions}. */
export async function buildProject(
  io: CommandIo,
  { config, conditions = [] }: ProjectOptions = {},
  { asWritten = false }: Pick<BundleSourceOptions, 'asWritten'> = {},
): Promise<BuiltProject> {
  const path = configPath(io, config);
  return withPath(path, async () => {
    const cacheDir = join(dirname(path), 'node_modules/.cache/riata/config');
    const bundle = await bundleSource({ entry: path, cacheDir, conditions, asWritten });
    return { path, ...bundle };
  });
}

/** Imports a compiled project: its config, and the operator that it describes. */
export async function importOperator(built: BuiltProject): Promise<LoadedOperator> {
  const loaded = await importConfig(built);
  return { ...loaded, operator: await resolveOperator(loaded.config, loaded.packageJson) };
}

function importConfig({ path, file, sources }: BuiltProject): Promise<LoadedConfig> {
  return withPath(path, async () => {
    const exports: Readonly<Record<string, unknown>> = await import(pathToFileURL(file).href);
    const config = exports.default;
    if (!isOperatorConfig(config)) {
      throw new CommandError(`${path}: the default export must be made by operator({ name, image, run })`);
    }
    const folder = dirname(path);
    return { config, exports, path, folder, packageJson: await readPackage(folder), sources };
  });
}

async function withPath<T>(path: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${path}: cannot be loaded: ${describeError(error)}`, { cause: error });
  }
}

/** The path of the config: the given one, or the nearest. Throws if the file is missing. */
export function configPath(io: CommandIo, given: string | undefined): string {
  if (given !== undefined) {
    const path = resolve(io.cwd, given);
    if (!existsSync(path)) throw new CommandError(`${path}: not found`);
    return path;
  }
  for (let folder = resolve(io.cwd); ; folder = dirname(folder)) {
    const path = join(folder, fileName);
    if (existsSync(path)) return path;
    if (dirname(folder) === folder) {
      throw new CommandError(
        `no ${fileName} in ${io.cwd} or a folder above; run riata in an operator's folder, give --config, or create a project: npm create riata`,
      );
    }
  }
}

async function readPackage(folder: string): Promise<LoadedConfig['packageJson']> {
  const path = join(folder, 'package.json');
  if (!existsSync(path)) return {};
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new CommandError(`${path}: malformed JSON: ${(error as Error).message}`, { cause: error });
  }
}
