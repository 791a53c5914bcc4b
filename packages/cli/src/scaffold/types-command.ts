import { Command } from 'commander';
import { type ClusterOptions, withClusterOptions } from '../command/cluster-options.js';
import type { CommandDefinition } from '../command/command-definition.js';

const about = `Writes typed kinds for CustomResourceDefinitions: a module for each API group, with the types of its
kinds and a Kind to use each by. Definitions come from files, folders and URLs, and from the cluster
if --context or --kubeconfig is given.`;

const example = `
Examples:
  riata types crds/ https://example.com/crds.yaml
  riata types --context production --group cert-manager.io --output src/kinds
  riata types crds/ --check`;

interface TypesOptions extends ClusterOptions {
  readonly output: string;
  readonly group?: readonly string[];
  readonly check?: boolean;
  readonly json?: boolean;
}

/** `riata types`: typed kinds for CustomResourceDefinitions. */
export const typesCommand: CommandDefinition = (io) =>
  withClusterOptions(
    new Command('types')
      .summary('Writes typed kinds for CustomResourceDefinitions.')
      .description(about)
      .argument('[sources...]', 'files, folders and URLs')
      .option('--output <path>', 'a folder, a module (kinds.ts), or - for standard output', 'src/kinds')
      .option('--group <domain...>', 'only kinds of these API groups')
      .option('--check', 'write nothing; exit with 3 if a module is stale')
      .option('--json', 'print the modules as JSON'),
  )
    .addHelpText('after', example)
    .action(async (sources: readonly string[], { group, ...options }: TypesOptions) => {
      const { writeTypes } = await import('./write-types.js');
      await writeTypes(io, { ...options, sources, ...(group && { groups: group }) });
    });
