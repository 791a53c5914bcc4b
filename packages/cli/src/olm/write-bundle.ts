import { join, resolve } from 'node:path';
import { CommandError, exitCodes } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import { reportFiles } from '../command/report-files.js';
import { loadOperator } from '../config/load-operator.js';
import type { Operator } from '../config/resolve-operator.js';
import type { BundleCommandOptions } from './bundle-command.js';
import { bundleFiles } from './bundle-files.js';
import type { ProjectMetadata } from './cluster-service-version.js';

/** The work of `riata bundle`. */
export async function writeBundle(io: CommandIo, options: BundleCommandOptions): Promise<void> {
  const { output, replaces, check, force, json } = options;
  const channels = options.channels.split(',').map((name) => name.trim());
  const defaultChannel = options.defaultChannel ?? (channels[0] as string);
  const usage = { exitCode: exitCodes.usage };
  const wrong = channels.find((name) => !/^[a-z0-9][\w.-]*$/i.test(name));
  if (wrong !== undefined) throw new CommandError(`--channels: "${wrong}" is not a valid name of a channel`, usage);
  if (!channels.includes(defaultChannel)) {
    throw new CommandError(`--default-channel must be one of ${channels.join(', ')}, got "${defaultChannel}"`, usage);
  }
  const { operator, folder, packageJson } = await loadOperator(io, options);
  const project = packageJson as ProjectMetadata;
  const { files, leftOut } = await bundleFiles(operator, { channels, defaultChannel, replaces, project });
  for (const { kind, metadata } of leftOut)
    io.note(`${kind} ${metadata.name}: left out, since not every version of OLM takes this kind`);
  noteWebhooks(io, operator);
  const place = output === undefined ? join(folder, 'bundle') : resolve(io.cwd, output);
  await reportFiles(io, files, { command: 'bundle', folder: place, check, force, json });
}

/** The program finds out by an environment variable that OLM sets. */
function noteWebhooks(io: CommandIo, { webhooks, options }: Operator): void {
  if (webhooks.length === 0 || options.webhooks?.install === false) return;
  io.note(
    `webhooks: OLM brings their certificate and configurations; set webhooks: process.env.OPERATOR_CONDITION_NAME ? { certificates: 'cert-manager', install: false } : {}`,
  );
}
