import type { Command } from 'commander';
import type { CommandIo } from './command-io.js';

/**
 * A command of `riata`: its arguments, options and action. Actions import their work when they run, so that `riata --help`
 * loads none of it. A {@link CommandError} ends the command with its message and exit code.
 */
export type CommandDefinition = (io: CommandIo) => Command;
