import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { CommandError } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import { configPath } from '../config/load-operator.js';
import { parseModule, type SyntaxNode } from './source-edit.js';

/** Where the parts of a project are, without running it. */
export interface ProjectLayout {
  /** The folder of `riata.config.ts`, absolute. */
  readonly folder: string;
  /** The main module, relative to the folder: `src/main.ts`. */
  readonly main: string;
  /** Its folder, where new modules go: `src`. */
  readonly sourceFolder: string;
}

/** Finds the main module that `riata.config.ts` imports. */
export function projectLayout(io: CommandIo, config?: string): ProjectLayout {
  const path = configPath(io, config);
  const folder = dirname(path);
  const imported = importedModule(parseModule(path, readFileSync(path, 'utf8')));
  if (imported === undefined) {
    throw new CommandError(`${path}: cannot find the main module; import it as run: () => import('./src/main.js')`);
  }
  const found = [imported.replace(/\.js$/, '.ts'), imported.replace(/\.mjs$/, '.mts'), imported, `${imported}.ts`]
    .map((each) => resolve(folder, each))
    .find((each) => existsSync(each));
  if (found === undefined) throw new CommandError(`${path}: imports ${imported}, which does not exist`);
  const main = relative(folder, found).split(sep).join('/');
  return { folder, main, sourceFolder: dirname(main) };
}

/** The module of the first `import('…')` in a syntax tree. */
function importedModule(node: unknown): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  const { type, source } = node as Partial<SyntaxNode>;
  if (type === 'ImportExpression') {
    const { value } = source as { readonly value?: unknown };
    return typeof value === 'string' && value.startsWith('.') ? value : undefined;
  }
  for (const part of Object.values(node)) {
    const found = importedModule(part);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The API groups of the kinds that the project's modules define with literals. */
export function definedGroups({ folder, sourceFolder }: ProjectLayout): readonly string[] {
  const groups = readdirSync(join(folder, sourceFolder), { withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.test)\.ts$/.test(entry.name))
    .map((entry) => readFileSync(join(folder, sourceFolder, entry.name), 'utf8'))
    .filter((text) => text.includes('defineKind('))
    .flatMap((text) => [...text.matchAll(/\bgroup: ['"]([^'"]+)['"]/g)].map(([, group]) => group as string));
  return [...new Set(groups)].sort();
}
