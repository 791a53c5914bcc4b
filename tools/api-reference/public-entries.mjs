// @ts-check
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/** In the order in which they are shown; a name that several modules have is described in the first. */
const packages = ['riata', 'testing', 'apiserver', 'sandbox', 'cli', 'create-riata', 'dashboard'];

/**
 * All that can be imported from the packages, as their exports maps say.
 *
 * @param {string} root of the repository
 * @returns {Map<string, string>} source file → what an import says, e.g. `riata/controller`
 */
export function publicEntries(root) {
  /** @type {Map<string, string>} */
  const entries = new Map();
  for (const folder of packages) {
    const dir = join(root, 'packages', folder);
    const { name, exports } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
    for (const [path, { 'riata-source': source }] of Object.entries(exports)) {
      if (source === undefined) continue;
      const [before = '', after] = source.split('*');
      const spoken = `${name}${path.slice(1)}`;
      if (after === undefined) entries.set(join(dir, source), spoken);
      else for (const [file, star] of starred(join(dir, before), after)) entries.set(file, spoken.replace('*', star));
    }
  }
  return entries;
}

/**
 * The files that a star stands for; it matches slashes, too.
 *
 * @param {string} folder @param {string} ending
 * @returns {[file: string, star: string][]}
 */
function starred(folder, ending) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((found) => found.isFile() && found.name.endsWith(ending))
    .map((found) => join(found.parentPath, found.name))
    .sort()
    .map((file) => [file, relative(folder, file).slice(0, -ending.length).split(sep).join('/')]);
}
