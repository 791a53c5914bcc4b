import { Command } from 'commander';
import { type ClusterOptions, withClusterOptions } from '../command/cluster-options.js';
import type { CommandDefinition } from '../command/command-definition.js';
import { type ProjectOptions, withProjectOptions } from '../command/project-options.js';

/** Options of `riata undeploy`. */
export interface UndeployCommandOptions extends ProjectOptions, ClusterOptions {
  readonly namespace?: string;
  readonly crds?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly timeout: string;
  readonly json?: boolean;
}

const after = `
Removes what riata deploy made, and nothing else: webhook configurations first, then objects of the operator's kinds and
their definitions if --crds is given, then the operator. Its namespace goes if nothing else is in it.

Example: riata undeploy --dry-run`;

/** `riata undeploy`: removes a deployed operator. */
export const undeployCommand: CommandDefinition = (io) => {
  const command = new Command('undeploy')
    .description('Removes the operator from a cluster.')
    .option('-n, --namespace <name>', 'where it is deployed (default: namespace of riata.config.ts)')
    .option('--crds', 'also delete its CustomResourceDefinitions, with all objects of their kinds')
    .option('--dry-run', 'show what would be deleted, and delete nothing')
    .option('-y, --yes', 'do not ask')
    .option('--timeout <duration>', "how long the operator's finalizers may take", '5m')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', after)
    .action(async (options: UndeployCommandOptions) => {
      const { runUndeploy } = await import('./run-undeploy.js');
      await runUndeploy(io, options);
    });
  return withClusterOptions(withProjectOptions(command));
};
