import { Command, Option } from 'commander';
import type { CommandDefinition } from '../command/command-definition.js';
import { withProjectOptions } from '../command/project-options.js';
import type { DevOptions } from './run-dev.js';
import { takeOverWays } from './take-over/take-over.js';
import { typeModes } from './types/type-checker.js';

const about = `Runs the operator in a sandbox, or in a cluster, and swaps changed code with every save: caches, queues and \
leases stay.`;

const examples = `
Examples:
  riata dev                              in a sandbox that kubectl reaches
  riata dev --context kind-dev           in a cluster, beside nothing else
  riata dev --context kind-dev --take-over
                                         in place of the deployed operator, which is scaled to zero until you leave
  riata dev --context kind-dev --take-over=lease
                                         the same, while its Pods wait to lead again
  riata dev --context kind-dev --give-back
                                         only gives back what a crash has left taken`;

/** `riata dev`: the operator of a project, with its code swapped while it runs. */
export const devCommand: CommandDefinition = (io) =>
  withProjectOptions(new Command('dev').description(about.replaceAll('\n', ' ')).addHelpText('after', examples))
    .option('--context <name>', 'a context of the kubeconfig, in place of a sandbox')
    .option('--kubeconfig <file>', 'a kubeconfig, in place of a sandbox')
    .option('--nodes <number>', 'nodes of the sandbox', '3')
    .option('--port <number>', 'port of the sandbox on loopback; 0: any that is free', '0')
    .addOption(
      new Option(
        '--types <mode>',
        'type errors. hold: code with errors does not run, and the code before does; revert: new code runs at once, and ' +
          'the code before again if there are errors; show: errors are only shown; off: no check (default: hold)',
      ).choices(typeModes),
    )
    .option('--apply <files...>', 'YAML of objects to apply once the operator runs, to have something to reconcile')
    .addOption(
      new Option(
        '--take-over [how]',
        'works in place of the deployed operator, until exit. scale: it is scaled to zero; lease: its Pods stay, and its ' +
          'Lease of leader election is taken (default: scale)',
      )
        .choices(takeOverWays)
        .preset('scale'),
    )
    .option('--give-back', 'only undoes --take-over, after a crash that left it in place')
    .option(
      '--dashboard-port <number>',
      'port of the dashboard on loopback; 0: any that is free (default: 8082 if it is free)',
    )
    .option('--no-dashboard', 'serves no dashboard')
    .option('--open', 'opens the dashboard in a browser')
    .option('--webhook-host <host>', 'the name or address by which the cluster reaches this machine')
    .action(async (options: DevOptions) => {
      const { runDev } = await import('./run-dev.js');
      await runDev(io, options);
    });
