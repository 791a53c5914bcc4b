import { CommandError, exitCodes } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';

/** Asks before something is changed. Without a terminal there is nobody to ask: then `yes` is required. */
export async function confirm(io: CommandIo, message: string, yes: boolean | undefined): Promise<void> {
  if (yes) return;
  const { terminal } = io;
  if (terminal === undefined) {
    throw new CommandError('needs a confirmation, and there is no terminal to ask; give --yes', {
      exitCode: exitCodes.usage,
    });
  }
  const prompts = await import('@clack/prompts');
  const { input, output } = terminal;
  const answer = await prompts.confirm({ message, initialValue: false, input, output, signal: io.signal });
  io.signal.throwIfAborted();
  if (answer !== true) throw new CommandError('nothing was changed', { exitCode: exitCodes.interrupted });
}
