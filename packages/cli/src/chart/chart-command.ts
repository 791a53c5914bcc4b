import { Command } from 'commander';
import type { CommandDefinition } from '../command/command-definition.js';
import { type ProjectOptions, withProjectOptions } from '../command/project-options.js';

/** Options of `riata chart`. */
export interface ChartCommandOptions extends ProjectOptions {
  readonly output?: string;
  readonly package?: string;
  readonly check?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

const after = `
The chart is made by chart(…) and exported by riata.config.ts; without one, it has the values that most charts have.

Examples: riata chart --output deploy/chart
          riata chart --package site-operator-1.2.3.tgz
          helm install site-operator ./chart --namespace site-operator --create-namespace`;

/** `riata chart`: a Helm chart from the operator's objects. */
export const chartCommand: CommandDefinition = (io) => {
  const command = new Command('chart')
    .description('Writes a Helm chart of the operator.')
    .option('--output <folder>', 'where the chart goes (default: chart beside the config)')
    .option('--package <file>', 'write an archive instead, as helm package does')
    .option('--check', 'write nothing; exit with 3 if files are stale, and show the lines')
    .option('--force', 'overwrite files that were edited by hand')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', after)
    .action(async (options: ChartCommandOptions) => {
      const { writeChart } = await import('./write-chart.js');
      await writeChart(io, options);
    });
  return withProjectOptions(command);
};
