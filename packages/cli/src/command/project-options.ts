import type { Command } from 'commander';

/** Options by which commands find the project. */
export interface ProjectOptions {
  /** The path of `riata.config.ts`. @default the nearest one, from the current folder upwards */
  readonly config?: string;
  /** Export conditions to resolve packages with, beside Node's own; for workspaces that export their source. @default none */
  readonly conditions?: readonly string[];
}

/** Adds the options by which a command finds `riata.config.ts`. */
export function withProjectOptions(command: Command): Command {
  return command
    .option('--config <file>', 'the config file (default: riata.config.ts here or in a folder above)')
    .option('--conditions <name...>', 'export conditions to resolve packages with, e.g. those of a workspace');
}
