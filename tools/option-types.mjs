// @ts-check
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The options types that a package exports and whose names no list has, so that unknown ones would be taken silently.
 *
 * @param {string} src the folder of the source
 * @returns {string[]}
 */
export function unlistedOptionTypes(src) {
  const text = (/** @type {string} */ path) => readFileSync(join(src, path), 'utf8');
  const paths = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !/\.(test|test-d|fixture)\.ts$|generated/.test(path),
  );
  const listed = new Set(
    paths.flatMap((path) => [...text(path).matchAll(/(?:optionNames|\.and)<\s*(\w+)/g)].map(([, name]) => name)),
  );
  const exported = [...text('index.ts').matchAll(/\b[A-Z]\w+Options\b/g)].map(([name]) => name);
  return [...new Set(exported)].filter((name) => !listed.has(name));
}
