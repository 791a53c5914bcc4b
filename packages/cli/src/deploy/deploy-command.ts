import { Command } from 'commander';
import { type ClusterOptions, withClusterOptions } from '../command/cluster-options.js';
import type { CommandDefinition } from '../command/command-definition.js';
import { type ProjectOptions, withProjectOptions } from '../command/project-options.js';

/** Options of `riata deploy`. */
export interface DeployCommandOptions extends ProjectOptions, ClusterOptions {
  readonly image?: string;
  readonly namespace?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly wait: boolean;
  readonly timeout: string;
  readonly json?: boolean;
}

const after = `
Shows what changes, asks, applies it, and waits until the operator is ready. What is no longer part of the operator is
deleted; CustomResourceDefinitions and namespaces never are. To change an object, change it by code:
  operator({ …, objects: (operator) => deployment(operator, { replicas: 3 }) })

Examples: riata deploy --dry-run
          riata deploy --yes --image "$(riata image --push)"`;

/** `riata deploy`: brings a cluster to the state that the operator's objects describe. */
export const deployCommand: CommandDefinition = (io) => {
  const command = new Command('deploy')
    .description('Deploys the operator to a cluster, and waits until it is ready.')
    .option('--image <image>', "the operator's image, with tag or digest (default: that of its objects)")
    .option('-n, --namespace <name>', 'where it is deployed (default: namespace of riata.config.ts)')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('-y, --yes', 'do not ask')
    .option('--no-wait', 'do not wait until the operator is ready')
    .option('--timeout <duration>', 'how long to wait for it', '5m')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', after)
    .action(async (options: DeployCommandOptions) => {
      const { runDeploy } = await import('./run-deploy.js');
      await runDeploy(io, options);
    });
  return withClusterOptions(withProjectOptions(command));
};
