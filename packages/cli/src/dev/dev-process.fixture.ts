import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { expect, vi } from 'vitest';
import type { DevProject } from './dev-project.fixture.js';

const source = fileURLToPath(new URL('../bin.ts', import.meta.url));

/** A `riata dev` in a process of its own. */
export interface DevProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly output: string;
  /** Waits until its output matches. */
  saw(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Builds the command into the packages of a project, beside `riata`, and gives the path of its program. */
export async function installCommand({ folder }: DevProject): Promise<string> {
  const file = join(folder, '../node_modules/@riata/cli/bin.mjs');
  const build = await rolldown({
    input: source,
    platform: 'node',
    resolve: { conditionNames: ['riata-source', 'node', 'import', 'default'] },
    external: [/^riata(?:\/|$)/, /^(?:rolldown|yaml|zod|classic-level|prom-client)(?:\/|$)/],
    transform: { target: 'node20' },
    logLevel: 'silent',
  });
  await build.write({ file, format: 'esm', codeSplitting: false });
  await build.close();
  return file;
}

/** Runs `riata dev` in the project, with options of Node and of the command. */
export function startDev(
  { folder }: DevProject,
  program: string,
  args: readonly string[],
  { node = [] }: { readonly node?: readonly string[] } = {},
): DevProcess {
  const child = spawn(process.execPath, [...node, program, 'dev', ...args], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1', NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const ended = once(child, 'exit');
  return {
    child,
    get output() {
      return output;
    },
    async saw(pattern) {
      const isOver = () => child.exitCode !== null || pattern.test(output);
      await vi.waitFor(() => expect(isOver(), output).toBe(true), { timeout: 90_000, interval: 20 });
      const found = pattern.exec(output);
      expect(found, output).not.toBeNull();
      return found as RegExpExecArray;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await ended;
    },
  };
}
