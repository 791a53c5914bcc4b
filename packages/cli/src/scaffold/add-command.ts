import { Argument, Command, Option } from 'commander';
import type { CommandDefinition } from '../command/command-definition.js';
import { type ProjectOptions, withProjectOptions } from '../command/project-options.js';
import type { AddOptions } from './add-options.js';
import type { Part } from './add-part.js';
import { reportPlan } from './report-plan.js';

const about = `Adds a part to the project, and lists it in the definitions of its main module.

  kind        a kind, its controller and a test
  controller  a controller and a test, for a kind of the project or of Kubernetes
  webhook     a webhook that checks objects before they are stored, and a test
  version     another version of a kind, its conversion webhook and a test

Files that exist are never overwritten. Either all files are written, or none.`;

const example = `
Examples:
  riata add kind Backup --group backups.example.com
  riata add webhook Backup
  riata add version Backup --version v2`;

/** `riata add`: adds a kind, controller, webhook or version to a project. */
export const addCommand: CommandDefinition = (io) =>
  withProjectOptions(
    new Command('add')
      .summary('Adds a kind, a controller, a webhook or a version.')
      .description(about)
      .addArgument(new Argument('<part>', 'what to add').choices(['kind', 'controller', 'webhook', 'version']))
      .argument('<Kind>', 'the kind, in PascalCase')
      .option('--group <domain>', 'the API group of a new kind (default: that of the kinds that are there)')
      .addOption(new Option('--version <version>', 'of a new kind (default: v1), or the new version of a kind'))
      .option('--cluster-scoped', 'objects of the new kind have no namespace')
      .option('--no-wire', 'leaves the main module as it is')
      .option('--json', 'writes the files as JSON: { created, changed, notes }'),
  )
    .addHelpText('after', example)
    .action(async (part: Part, kind: string, options: AddOptions & ProjectOptions & { readonly json?: boolean }) => {
      const [{ planPart }, { projectLayout }] = await Promise.all([
        import('./add-part.js'),
        import('./project-layout.js'),
      ]);
      const layout = projectLayout(io, options.config);
      await reportPlan(io, layout, await planPart(part, kind, layout, options), options.json);
    });
