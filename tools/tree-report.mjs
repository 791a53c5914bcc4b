// @ts-check
/** Prints the folders with most source files and the longest files of all packages; fails where a folder or file is too large. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** More than this, and a newcomer no longer finds a file at first sight. */
const mostFiles = 25;
/** Beyond this there is usually a second idea in a file. */
const mostLines = 420;

const root = fileURLToPath(new URL('..', import.meta.url));
/** @type {Map<string, number>} */
const folders = new Map();
/** @type {[path: string, lines: number][]} */
const files = [];
/** @type {Map<string, number>} */
const packages = new Map();

for (const name of readdirSync(join(root, 'packages'))) {
  const src = join(root, 'packages', name, 'src');
  for (const path of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.ts') || /\.(test|test-d|fixture|bench)\.ts$|generated/.test(path)) continue;
    if (name === 'riata' && path.startsWith('kinds')) continue;
    const full = relative(root, join(src, path));
    const lines = readFileSync(join(root, full), 'utf8').split('\n').length - 1;
    folders.set(dirname(full), (folders.get(dirname(full)) ?? 0) + 1);
    files.push([full, lines]);
    packages.set(name, (packages.get(name) ?? 0) + lines);
  }
}

const largest = [...folders].sort((a, b) => b[1] - a[1]);
const longest = files.sort((a, b) => b[1] - a[1]);
console.log('lines of source, tests and generated code left out:');
for (const [name, lines] of packages) console.log(`${String(lines).padStart(7)}  ${name}`);
console.log('folders with most source files:');
for (const [folder, count] of largest.slice(0, 10)) console.log(`${String(count).padStart(7)}  ${folder}`);
console.log('longest files, in lines:');
for (const [file, lines] of longest.slice(0, 10)) console.log(`${String(lines).padStart(7)}  ${file}`);

const problems = [
  ...largest.filter(([, count]) => count > mostFiles).map(([folder, count]) => `${folder} has ${count} source files`),
  ...longest.filter(([, lines]) => lines > mostLines).map(([file, lines]) => `${file} has ${lines} lines`),
];
for (const problem of problems) console.error(`${problem}; limits are ${mostFiles} files and ${mostLines} lines`);
if (problems.length > 0) process.exit(1);
