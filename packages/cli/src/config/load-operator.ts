import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeError } from 'riata/runtime';
import { CommandError } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import type { ProjectOptions } from '../command/project-options.js';
import { bundleSource } from './bundle-source.js';
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

/** Reads `riata.config.ts`, without importing the operator itself. */
export async function loadProjectConfig(io: CommandIo, options: ProjectOptions = {}): Promise<LoadedConfig> {
  const path = configPath(io, options.config);
  const folder = dirname(path);
  try {
    const bundle = await bundleSource({
      entry: path,
      cacheDir: join(folder, 'node_modules/.cache/riata/config'),
      conditions: options.conditions ?? [],
    });
    const exports: Readonly<Record<string, unknown>> = await import(pathToFileURL(bundle.file).href);
    const config = exports.default;
    if (!isOperatorConfig(config)) {
      throw new CommandError(`${path}: the default export must be made by operator({ name, image, run })`);
    }
    return { config, exports, path, folder, packageJson: await readPackage(folder), sources: bundle.sources };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${path}: cannot be loaded: ${describeError(error)}`, { cause: error });
  }
}

/** Reads `riata.config.ts` and the operator that it describes. */
export async function loadOperator(
  io: CommandIo,
  options: ProjectOptions = {},
): Promise<LoadedConfig & { readonly operator: Operator }> {
  const loaded = await loadProjectConfig(io, options);
  return { ...loaded, operator: await resolveOperator(loaded.config, loaded.packageJson) };
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
