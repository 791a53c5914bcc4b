import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';

/** What to wait for on the terminal, and the keys to press then. */
export type TerminalStep = readonly [shown: string, keys: string];

export const keys = { enter: '\r', up: '\x1b[A', down: '\x1b[B', interrupt: '\x03' } as const;

/**
 * Runs a program on a pseudo-terminal, and presses keys. The terminal is that of `script` of util-linux, which every
 * Debian and Ubuntu has; Node itself makes none. Resolves when the program has ended, to its exit code and its output
 * without control sequences.
 */
export function runOnTerminal(
  command: readonly string[],
  cwd: string,
  steps: readonly TerminalStep[],
): Promise<{ readonly code: number; readonly output: string }> {
  const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  const program = `stty columns 100 rows 40; exec ${quoted}`;
  const child = spawn('script', ['-qfec', program, '/dev/null'], { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
  const left = [...steps];
  let output = '';
  let seen = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += stripVTControlCharacters(text);
    const [next] = left;
    const at = next === undefined ? -1 : output.indexOf(next[0], seen);
    if (next === undefined || at < 0) return;
    left.shift();
    seen = at + next[0].length;
    child.stdin.write(next[1]);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (left.length > 0) reject(new Error(`the terminal never showed ${JSON.stringify(left[0]?.[0])}:\n${output}`));
      else resolve({ code: code ?? 1, output });
    });
  });
}
