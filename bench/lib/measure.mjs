import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const LIMIT_MS = 300_000;

/** Runs a subject in a process of its own and gives what it reports. */
export async function measure(node, script, ...args) {
  const { stdout } = await run(node, [script, ...args], { timeout: LIMIT_MS, maxBuffer: 1 << 24 });
  return JSON.parse(stdout);
}

/** Prints the progress on one line of the terminal, if there is a terminal. */
export function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text === '' ? '' : `  ${text}`}`);
}

/**
 * Runs all cases one after the other, `runs` times over, so that what disturbs the machine for a while disturbs all; every
 * other time in reverse, so that none of them is always first.
 * @param {Record<string, () => Promise<object>>} cases
 * @returns {Promise<Record<string, object[]>>} what each reported, in order
 */
export async function rounds(cases, runs) {
  const found = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
  for (let round = 0; round < runs; round++) {
    const entries = Object.entries(cases);
    for (const [name, once] of round % 2 === 0 ? entries : entries.reverse()) {
      progress(`${round + 1}/${runs} ${name}`);
      found[name].push(await once());
    }
  }
  progress('');
  return found;
}

/** Whether a subject is asked for by a part of its name; all are unless parts are given. */
export const isAskedFor = (parts, name) => !parts || parts.some((part) => name.includes(part));
