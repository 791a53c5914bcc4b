import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sections } from './sections.mjs';

export const bench = fileURLToPath(new URL('..', import.meta.url));

/** Keeps what a section has measured; it replaces what was there of that section. */
export function writeResult(home, name, result) {
  const folder = join(home, 'results');
  mkdirSync(folder, { recursive: true });
  // As all other files of the repository.
  const text = execFileSync('npx', ['biome', 'format', `--stdin-file-path=bench/results/${name}.json`], {
    ...{ cwd: join(bench, '..'), encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] },
    input: `${JSON.stringify(result, null, 2)}\n`,
  });
  writeFileSync(join(folder, `${name}.json`), text);
}

/** What was measured, in the order of the sections; one that never was is left out. */
export function readResults(home = bench) {
  return sections.flatMap((section) => {
    const file = join(home, 'results', `${section.name}.json`);
    if (!existsSync(file)) return [];
    const result = JSON.parse(readFileSync(file, 'utf8'));
    return [{ section, result, described: section.describe(result.data) }];
  });
}
