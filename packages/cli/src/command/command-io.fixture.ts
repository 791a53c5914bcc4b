import { defaultRuntime, silentLogger } from 'riata/runtime';
import type { CommandIo } from './command-io.js';
import { type RunRiataOptions, runRiata } from './run-riata.js';

/** What a command wrote, and how it ended. */
export interface CommandRun {
  readonly code: number;
  readonly out: string;
  readonly notes: string;
}

/** A process for a command, whose output is kept. */
export function memoryIo(
  given: Partial<CommandIo> & Pick<CommandIo, 'cwd'>,
): CommandIo & { read(): Omit<CommandRun, 'code'> } {
  const out: string[] = [];
  const notes: string[] = [];
  return {
    env: {},
    out: (line) => void out.push(line),
    note: (line) => void notes.push(line),
    colors: false,
    signal: new AbortController().signal,
    runtime: { ...defaultRuntime(), log: silentLogger },
    read: () => ({ out: out.join('\n'), notes: notes.join('\n') }),
    ...given,
  };
}

/** Runs a command in a folder, as a shell would. */
export async function runIn(
  cwd: string,
  args: readonly string[],
  given: Partial<CommandIo> & Partial<RunRiataOptions> = {},
): Promise<CommandRun> {
  const { version = '0.0.0', commands, ...parts } = given;
  const io = memoryIo({ ...parts, cwd });
  const code = await runRiata(args, io, { version, ...(commands && { commands }) });
  return { code, ...io.read() };
}
