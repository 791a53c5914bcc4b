import { Command } from 'commander';
import { withClusterOptions } from '../command/cluster-options.js';
import type { CommandDefinition } from '../command/command-definition.js';
import { withProjectOptions } from '../command/project-options.js';
import type { DashboardCommandOptions } from './dashboard.js';

const after = `
The operator must serve its /debug pages: dashboard: true, or metrics: { port, debug: true }.
It needs no dashboard of its own: this command brings the page. You need the right to create
pods/portforward; on protected pages, to get /debug/*. Actions are done with your own rights.

Example: riata dashboard --context prod -n my-operator`;

/** `riata dashboard`: the page of an operator in a cluster, on this machine. */
export const dashboardCommand: CommandDefinition = (io) =>
  withClusterOptions(
    withProjectOptions(
      new Command('dashboard')
        .description('Serves the dashboard of an operator in a cluster on your machine, through a port-forward.')
        .argument('[deployment]', 'the Deployment of the operator (default: that of the project, or the only one)')
        .option('-n, --namespace <name>', 'the namespace of the operator (default: that of the project or context)')
        .option('--pod <name>', 'the Pod to show (default: the leader, or the first one)')
        .option('--pod-port <port>', 'the port of the pages in the Pod (default: by the project, or found)')
        .option('--port <port>', 'the port on this machine; 0 for any that is free', '8082')
        .option('--token-file <file>', 'the token to look and act with (default: $RIATA_TOKEN, the kubeconfig)'),
    ),
  )
    .addHelpText('after', after)
    .action(async (deployment: string | undefined, options: DashboardCommandOptions) => {
      const { dashboard } = await import('./dashboard.js');
      await dashboard(io, deployment, options);
    });
