import { Command } from 'commander';
import { chartCommand } from '../chart/chart-command.js';
import { completionCommand } from '../completion/completion-command.js';
import { deployCommand } from '../deploy/deploy-command.js';
import { undeployCommand } from '../deploy/undeploy-command.js';
import { devCommand } from '../dev/dev-command.js';
import { imageCommand } from '../image/image-command.js';
import { dashboardCommand } from '../inspect/dashboard-command.js';
import { doctorCommand } from '../inspect/doctor-command.js';
import { explainCommand } from '../inspect/explain-command.js';
import { topCommand } from '../inspect/top-command.js';
import { manifestsCommand } from '../manifests/manifests-command.js';
import { bundleCommand } from '../olm/bundle-command.js';
import { addCommand } from '../scaffold/add-command.js';
import { importCommand } from '../scaffold/import-command.js';
import { typesCommand } from '../scaffold/types-command.js';
import { apiserverCommand } from '../serve/apiserver-command.js';
import { sandboxCommand } from '../serve/sandbox-command.js';
import type { CommandDefinition } from './command-definition.js';
import type { CommandIo } from './command-io.js';

/** All commands, in the order of the help. */
const commands: readonly CommandDefinition[] = [
  devCommand,
  addCommand,
  typesCommand,
  importCommand,
  manifestsCommand,
  chartCommand,
  bundleCommand,
  imageCommand,
  deployCommand,
  undeployCommand,
  doctorCommand,
  explainCommand,
  topCommand,
  dashboardCommand,
  sandboxCommand,
  apiserverCommand,
  completionCommand,
];

const about = `Creates, runs, packages and deploys Kubernetes operators written in TypeScript.`;

const after = `
Exit codes: 0 success, 1 failure, 2 wrong usage, 3 a check found something, 130 interrupted.
In a new folder, start with: npm create riata@latest my-operator`;

/** The `riata` command. @param version of this package */
export function program(io: CommandIo, version: string, given: readonly CommandDefinition[] = commands): Command {
  const riata = new Command('riata')
    .description(about)
    .version(version, '-v, --version', 'print the version')
    .addHelpText('after', after);
  // Options after a command are the command's: --version, for one.
  riata.enablePositionalOptions();
  for (const define of given) riata.addCommand(define(io));
  return inherit(riata, io);
}

/** What holds for all commands; commander hands settings only to commands that are made by their parent. */
function inherit(command: Command, io: CommandIo, above = ''): Command {
  const path = `${above} ${command.name()}`.trimStart();
  command
    .exitOverride()
    .showSuggestionAfterError()
    .helpCommand(false)
    .helpOption('-h, --help', 'describe the command')
    .showHelpAfterError(`See: ${path} --help`)
    .configureHelp({ showGlobalOptions: false })
    .configureOutput({
      writeOut: (text) => io.out(text.replace(/\n$/, '')),
      outputError: (text, write) => write(text.replace(/^error: /, 'riata: ')),
      writeErr: (text) => io.note(text.replace(/\n$/, '')),
      getOutHasColors: () => io.colors,
      getOutHelpWidth: () => io.terminal?.columns ?? 100,
      getErrHelpWidth: () => io.terminal?.columns ?? 100,
    });
  for (const child of command.commands) inherit(child, io, path);
  return command;
}
