import { existsSync, readdirSync } from 'node:fs';

/** The root of the repository. */
export const root = new URL('../../', import.meta.url);

/** Built, installed or generated; no part of the sources. */
const ignored = new Set(['node_modules', 'dist', '.git', 'docs/api']);

/** Every source file of the repository, relative to its root. */
export function repositoryFiles(): string[] {
  const walk = (folder: string): string[] =>
    readdirSync(new URL(folder, root), { withFileTypes: true }).flatMap((entry) => {
      const path = `${folder}${entry.name}`;
      if (ignored.has(entry.name) || ignored.has(path)) return [];
      if (entry.isDirectory()) return walk(`${path}/`);
      return entry.isFile() ? [path] : [];
    });
  return walk('');
}

/** Pages for readers: the root's, `docs/`, `designs/`, and the README of each package and example. */
export function pages(files: readonly string[] = repositoryFiles()): string[] {
  return files.filter((file) =>
    /^(?:[^/]+|(?:docs|designs)\/.+|(?:examples|packages)\/[^/]+\/README|bench\/README)\.md$/.test(file),
  );
}

/** Whether a path relative to the root exists, as a file or a folder. */
export function isPresent(path: string): boolean {
  return existsSync(new URL(path, root));
}
