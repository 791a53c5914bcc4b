import { Command } from 'commander';
import { withClusterOptions } from '../command/cluster-options.js';
import type { CommandDefinition } from '../command/command-definition.js';
import { withProjectOptions } from '../command/project-options.js';
import type { DoctorOptions } from './doctor.js';

const after = `
Checks the connection, who you are, CustomResourceDefinitions, the deployed operator and its rights,
webhooks and their certificates, and Leases. Changes nothing. Without riata.config.ts it checks the
cluster alone. Exits with 3 if it found a problem; warnings alone give 0.

Example: riata doctor --context production`;

/** `riata doctor`: what is wrong with an operator and its cluster, and what to do. */
export const doctorCommand: CommandDefinition = (io) =>
  withClusterOptions(
    withProjectOptions(
      new Command('doctor')
        .description('Checks a cluster and the operator in it: what is wrong, and what to do.')
        .option('--json', 'print one JSON value'),
    ),
  )
    .addHelpText('after', after)
    .action(async (options: DoctorOptions) => {
      const { doctor } = await import('./doctor.js');
      await doctor(io, options);
    });
