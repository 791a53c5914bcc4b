import { CommanderError } from 'commander';
import { describeError, isAbortOf } from 'riata/runtime';
import type { CommandDefinition } from './command-definition.js';
import { CommandError, type ExitCode, exitCodes } from './command-error.js';
import type { CommandIo } from './command-io.js';
import { program } from './program.js';

/** What {@link runRiata} takes. */
export interface RunRiataOptions {
  /** Of this package. */
  readonly version: string;
  /** @default all of them */
  readonly commands?: readonly CommandDefinition[];
}

/**
 * Runs one command and gives its exit code; never rejects. `args` are those after `riata`. The stack of an unexpected error
 * is shown if `RIATA_DEBUG` is set.
 */
export async function runRiata(args: readonly string[], io: CommandIo, options: RunRiataOptions): Promise<ExitCode> {
  const riata = program(io, options.version, options.commands);
  try {
    if (args.length === 0) {
      riata.outputHelp();
      return exitCodes.usage;
    }
    await riata.parseAsync(args, { from: 'user' });
    return exitCodes.ok;
  } catch (error) {
    return report(error, io);
  }
}

function report(error: unknown, io: CommandIo): ExitCode {
  // Commander has written its message, or the help or version that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (isAbortOf(io.signal, error)) return exitCodes.interrupted;
  if (error instanceof CommandError) {
    if (error.message !== '') io.note(`riata: ${error.message}`);
    return error.exitCode;
  }
  io.note(`riata: ${describeError(error)}`);
  if (io.env.RIATA_DEBUG && error instanceof Error) io.note(error.stack ?? '');
  return exitCodes.failed;
}
