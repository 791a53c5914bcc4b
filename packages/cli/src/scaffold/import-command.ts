import { Command } from 'commander';
import type { CommandDefinition } from '../command/command-definition.js';
import { reportPlan } from './report-plan.js';

const about =
  'Reads the CustomResourceDefinitions, roles, controllers and webhooks of an operator in Go, and writes its kinds, ' +
  'controllers without code, and PORTING.md: what is left to do, and which rights the old operator had. Run it in a new ' +
  'project. Nothing of the Go operator is run or changed, and no file is overwritten.';

const example = `
Example:
  npm create riata@latest backup-operator && cd backup-operator
  npx riata import ../backup-operator-go`;

interface ImportOptions {
  readonly config?: string;
  readonly wire?: boolean;
  readonly json?: boolean;
}

/** `riata import`: the kinds and controllers of an operator in Go. */
export const importCommand: CommandDefinition = (io) =>
  new Command('import')
    .summary('Imports the kinds and controllers of an operator in Go.')
    .description(about)
    .argument('<folder>', 'of the Go operator, with its go.mod')
    .option('--config <file>', 'the config file (default: riata.config.ts here or in a folder above)')
    .option('--no-wire', 'leaves the main module as it is')
    .option('--json', 'print the files as JSON: { created, changed, notes }')
    .addHelpText('after', example)
    .action(async (folder: string, options: ImportOptions) => {
      const [{ planImport }, { projectLayout }] = await Promise.all([
        import('./import/import-operator.js'),
        import('./project-layout.js'),
      ]);
      const layout = projectLayout(io, options.config);
      await reportPlan(io, layout, await planImport(io, folder, layout, options), options.json);
    });
