import { basename, relative, resolve } from 'node:path';
import process from 'node:process';
import { CreateError, usageError } from './create-error.js';
import type { CreateIo } from './create-io.js';
import { kindRefusal } from './kind-names.js';
import { groupProblem, projectNameProblem } from './name-problems.js';
import { type CreateFlags, help, parseFlags } from './parse-flags.js';
import { type ProjectOptions, projectFiles } from './project-files.js';
import { requireSupportedNode } from './require-supported-node.js';
import { entriesInTheWay, writeProject } from './write-project.js';

// Here, as whatever is imported comes with this file.
requireSupportedNode(process.versions.node);

/**
 * Runs the command and gives its exit code; never rejects. `args` are those after `create-riata`; `version` is that of this
 * package, and of the packages of Riata in the new project.
 */
export async function createRiata(args: readonly string[], io: CreateIo, version: string): Promise<number> {
  try {
    const flags = parseFlags(args);
    if (flags.help) io.out(help);
    else if (flags.version) io.out(version);
    else await create(flags, io, version);
    return 0;
  } catch (error) {
    const known = error instanceof CreateError;
    io.note(`create-riata: ${known ? error.message : String(error)}`);
    if (!known && io.env.RIATA_DEBUG && error instanceof Error) io.note(error.stack ?? '');
    return known ? error.exitCode : 1;
  }
}

async function create(flags: CreateFlags, io: CreateIo, version: string): Promise<void> {
  // Before any question, so that nobody answers them in vain.
  if (flags.folder !== undefined) await checkFolder(flags.folder, io);
  checkNames(flags);
  const { terminal } = io;
  const isAsking = terminal !== undefined && !flags.yes;
  const answers = isAsking ? await (await import('./ask-options.js')).askOptions(flags, terminal, io.cwd) : flags;
  const { folder: given, template = 'minimal', kind = 'Site', group = 'example.com', ci = 'none' } = answers;
  if (given === undefined) throw usageError('the name of the project is missing: npm create riata@latest my-operator');
  const folder = await checkFolder(given, io);
  const options: ProjectOptions = { name: basename(folder), template, kind, group, ci };
  const files = await projectFiles(options, version);
  await writeProject(folder, files);
  const shown = relative(io.cwd, folder) || '.';
  io.out(`Created ${options.name} in ${shown}:`);
  for (const path of files.keys()) io.out(`  ${path}`);

  const manager = packageManager(io.env.npm_config_user_agent);
  const installs = answers.install ?? true;
  if (installs) await install(manager, folder, shown, io);
  const steps = [
    ...(shown === '.' ? [] : [`cd ${shown}`]),
    ...(installs ? [] : [`${manager} install`]),
    `${manager} run dev`,
  ];
  io.out(`\nNext:\n${steps.map((step) => `  ${step}`).join('\n')}`);
}

/** The absolute path of the folder. Throws if it cannot become a project. */
async function checkFolder(given: string, io: CreateIo): Promise<string> {
  const folder = resolve(io.cwd, given);
  refuse(projectNameProblem(basename(folder)));
  let inTheWay: string[];
  try {
    inTheWay = await entriesInTheWay(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error;
    throw new CreateError(`${given} is a file; choose another name, or remove it`);
  }
  if (inTheWay.length === 0) return folder;
  const some = inTheWay.slice(0, 5).join(', ');
  const more = inTheWay.length > 5 ? ` and ${inTheWay.length - 5} more` : '';
  throw new CreateError(
    `folder ${given} is not empty; it contains ${some}${more}; choose another name, or remove these first`,
  );
}

function checkNames({ kind, group }: CreateFlags): void {
  if (kind !== undefined) refuse(kindRefusal(kind));
  if (group !== undefined) refuse(groupProblem(group));
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw usageError(problem);
}

/** The package manager that runs this command: `npm/11.0.0 node/v24.0.0 linux x64` is the form of its user agent. */
function packageManager(userAgent: string | undefined): string {
  const [name = ''] = userAgent?.split('/') ?? [];
  return ['pnpm', 'yarn', 'bun'].includes(name) ? name : 'npm';
}

async function install(manager: string, folder: string, shown: string, io: CreateIo): Promise<void> {
  io.out(`\nInstalling the dependencies with ${manager}…`);
  const code = await io.run(manager, ['install'], folder).catch((error: unknown) => String(error));
  if (code === 0) return;
  const reason = typeof code === 'string' ? code : `it exited with code ${code}`;
  throw new CreateError(`the project is complete, but ${manager} install failed: ${reason}; run it again in ${shown}`);
}
