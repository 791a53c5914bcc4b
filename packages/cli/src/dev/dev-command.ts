import { Command, Option } from 'commander';
import type { CommandDefinition } from '../command/command-definition.js';
import { withProjectOptions } from '../command/project-options.js';
import type { DevOptions } from './run-dev.js';
import { typeModes } from './type-checker.js';

const about = `Runs the operator in a sandbox, or in a cluster, and swaps changed code with every save: caches, queues and \
leases stay.`;

const examples = `
Examples:
  riata dev                              in a sandbox that kubectl reaches
  riata dev --context kind-dev           in a cluster, beside nothing else
  riata dev --context kind-dev --take-over
                                         in place of the deployed operator, which is scaled to zero until you leave
  riata dev --context kind-dev --give-back
                                         only starts the deployed operator again, after a crash`;

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
        'type errors. revert: the code runs at once, and the last one without errors again when there are some; ' +
          'hold: the code waits for the check; show: they are only shown; off: no check ' +
          '(default: revert in a sandbox, hold in a cluster)',
      ).choices(typeModes),
    )
    .option('--apply <files...>', 'YAML of objects to apply once the operator runs, to have something to reconcile')
    .option('--take-over', 'scales the deployed operator to zero, and back on exit')
    .option('--give-back', 'scales the deployed operator back after a crash, and ends')
    .option('--webhook-host <host>', 'the name or address by which the cluster reaches this machine')
    .action(async (options: DevOptions) => {
      const { runDev } = await import('./run-dev.js');
      await runDev(io, options);
    });
