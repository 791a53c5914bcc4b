// @ts-check
import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expand } from './bundle.mjs';

/**
 * Takes out of a built package what its users cannot reach. Installed, a file takes a block of the disk at least, and
 * most of ours are smaller: half of the space would be such files.
 *
 * @param {string} dir the package
 */
export function slim(dir) {
  const dist = join(dir, 'dist');
  const reached = reachedDeclarations(dir);
  for (const path of filesIn(dist)) {
    if (path.endsWith('.d.ts')) {
      if (reached.has(path)) inlineMap(path);
      else rmSync(path);
      rmSync(`${path}.map`, { force: true });
    } else if (path.endsWith('.js.map')) dropEmptyMap(path);
  }
  removeEmptyFolders(dist);
}

/** Declarations that the package's exports name, and all that these import. @param {string} dir */
function reachedDeclarations(dir) {
  const { exports } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
  const patterns = Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [types]));
  const reached = new Set(patterns.flatMap((pattern) => expand(dir, pattern)).map((path) => join(dir, path)));
  for (const path of reached) {
    // Comments show imports of a user's own modules.
    const text = readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
    for (const [, specifier = ''] of text.matchAll(/\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)\.js['"]/g)) {
      const next = join(dirname(path), `${specifier}.d.ts`);
      if (!existsSync(next))
        throw new Error(`${relative(dir, path)} imports ${specifier}.js, which has no declarations`);
      reached.add(next);
    }
  }
  return reached;
}

/**
 * Puts a declaration map into its declarations, where editors find it just as well. What is generated needs none: its
 * source says no more than its declarations.
 *
 * @param {string} path
 */
function inlineMap(path) {
  const name = `${path}.map`;
  if (!existsSync(name)) return;
  const text = readFileSync(path, 'utf8').replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '');
  const { version, file, sources, mappings } = JSON.parse(readFileSync(name, 'utf8'));
  const map = Buffer.from(JSON.stringify({ version, file, sources, names: [], mappings })).toString('base64');
  const comment = `//# sourceMappingURL=data:application/json;charset=utf-8;base64,${map}\n`;
  writeFileSync(path, isGenerated(sources) ? `${text}\n` : `${text}\n${comment}`);
}

/** Removes the map of a module that has no code of its own but for what is generated. @param {string} name */
function dropEmptyMap(name) {
  const { sources } = JSON.parse(readFileSync(name, 'utf8'));
  if (!isGenerated(sources)) return;
  const path = name.slice(0, -'.map'.length);
  writeFileSync(path, readFileSync(path, 'utf8').replace(/\/\/# sourceMappingURL=\S+\s*$/, ''));
  rmSync(name);
}

/** @param {string[]} sources */
const isGenerated = (sources) => sources.every((source) => source.includes('/generated/'));

/** @param {string} dir */
function filesIn(dir) {
  const found = readdirSync(dir, { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** @param {string} dir */
function removeEmptyFolders(dir) {
  for (const entry of readdirSync(dir, { withFileTypes: true }))
    if (entry.isDirectory()) removeEmptyFolders(join(dir, entry.name));
  if (readdirSync(dir).length === 0) rmdirSync(dir);
}
