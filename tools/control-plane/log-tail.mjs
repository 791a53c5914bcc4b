// @ts-check
import { readFileSync } from 'node:fs';

/**
 * The last lines of a log, indented, for an error message; empty if there is no such file.
 * @param {string} path
 * @param {number} [lines]
 */
export function tailOf(path, lines = 20) {
  try {
    const all = readFileSync(path, 'utf8').trimEnd().split('\n');
    return all
      .slice(-lines)
      .map((line) => `  ${line.slice(0, 500)}`)
      .join('\n');
  } catch {
    return '';
  }
}
