import { Command } from 'commander';
import type { CommandDefinition } from '../command/command-definition.js';
import { type ProjectOptions, withProjectOptions } from '../command/project-options.js';

/** Options of `riata bundle`. */
export interface BundleCommandOptions extends ProjectOptions {
  readonly output?: string;
  readonly channels: string;
  readonly defaultChannel?: string;
  readonly replaces?: string;
  readonly check?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

const after = `
Build its image with any builder: docker build -f bundle/bundle.Dockerfile bundle

Examples: riata bundle --channels stable,candidate --default-channel stable
          riata bundle --replaces 1.1.0`;

/** `riata bundle`: an OLM bundle from the operator's objects. */
export const bundleCommand: CommandDefinition = (io) => {
  const command = new Command('bundle')
    .description('Writes a bundle of the operator for the Operator Lifecycle Manager (OLM).')
    .option('--output <folder>', 'where the bundle goes (default: bundle beside the config)')
    .option('--channels <names>', 'the channels of the catalog, with commas between', 'stable')
    .option('--default-channel <name>', 'the channel of those who choose none (default: the first one)')
    .option('--replaces <version>', 'the version that users upgrade from')
    .option('--check', 'write nothing; exit with 3 if files are stale, and show the lines')
    .option('--force', 'overwrite files that were edited by hand')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', after)
    .action(async (options: BundleCommandOptions) => {
      const { writeBundle } = await import('./write-bundle.js');
      await writeBundle(io, options);
    });
  return withProjectOptions(command);
};
