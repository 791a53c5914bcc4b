import { join, resolve } from 'node:path';
import { createClient, type WriteObject } from 'riata/client';
import { formatDiff, objectsToYaml } from 'riata/patterns';
import { silentLogger } from 'riata/runtime';
import { clusterConfig } from '../command/cluster-options.js';
import { CommandError, exitCodes } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import { reportFiles } from '../command/report-files.js';
import { loadOperator } from '../config/load-operator.js';
import type { Operator } from '../config/resolve-operator.js';
import { shortenedCrds } from './crd-manifests.js';
import { diffWithCluster, type ObjectDifference } from './diff-with-cluster.js';
import { manifestFiles } from './manifest-files.js';
import type { ManifestsCommandOptions } from './manifests-command.js';
import { operatorObjects } from './operator-objects.js';
import { refuseSecrets } from './refuse-secrets.js';
import { readTestedRights } from './used-rights.js';

/** The work of `riata manifests`. */
export async function writeManifests(io: CommandIo, options: ManifestsCommandOptions): Promise<void> {
  const { output, format, check, diff, fromTests, force, json } = options;
  refuseTogether(options);
  const { operator: loaded, folder } = await loadOperator(io, options);
  const operator: Operator = {
    ...loaded,
    ...(fromTests !== undefined && { testedRights: await readTestedRights(io.cwd, fromTests) }),
  };
  const objects = await operatorObjects(operator);
  noteShortened(io, operator);
  if (diff) return reportDiff(io, objects, options);
  if (output === '-') {
    io.out(json ? JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }, null, 2) : await yamlOf(objects));
    return;
  }
  refuseSecrets(objects);
  const files = await manifestFiles(objects, format);
  const place = output === undefined ? join(folder, 'manifests') : resolve(io.cwd, output);
  await reportFiles(io, files, { command: 'manifests', folder: place, check, force, json });
}

function refuseTogether({ output, check, diff, force }: ManifestsCommandOptions): void {
  const usage = { exitCode: exitCodes.usage };
  if (diff && (check || output !== undefined)) {
    throw new CommandError('--diff compares with a cluster; omit --check and --output', usage);
  }
  if (check && output === '-') throw new CommandError('--check compares with files; give --output a folder', usage);
  if (check && force) throw new CommandError('--check writes nothing; omit --force', usage);
}

function noteShortened(io: CommandIo, { kinds }: Operator): void {
  for (const { name, bytes } of shortenedCrds(kinds)) {
    const size = `${Math.round(bytes / 1024)} KiB`;
    io.note(`CustomResourceDefinition ${name}: ${size} are past the 256 KiB of kubectl apply; left descriptions out`);
  }
}

async function yamlOf(objects: readonly WriteObject[]): Promise<string> {
  return (await objectsToYaml(objects)).replace(/\n$/, '');
}

async function reportDiff(
  io: CommandIo,
  objects: readonly WriteObject[],
  options: ManifestsCommandOptions,
): Promise<void> {
  const config = await clusterConfig(io, options);
  await using client = createClient(config, { runtime: { ...io.runtime, log: silentLogger } });
  const differences = await diffWithCluster(client, objects, { signal: io.signal });
  const found = differences.filter(({ state }) => state !== 'same');
  if (options.json) io.out(JSON.stringify({ server: config.server, objects: differences }, null, 2));
  else for (const line of found.flatMap(describe)) io.out(line);
  if (found.length === 0) return io.note(`all ${differences.length} objects are as generated at ${config.server}`);
  const count = found.length === 1 ? '1 object differs' : `${found.length} objects differ`;
  throw new CommandError(`${count} at ${config.server}`, { exitCode: exitCodes.found });
}

function describe({ object, state, lines, reason }: ObjectDifference): string[] {
  if (state === 'missing') return [`${object}: is missing`];
  if (state === 'unknown') return [`${object}: cannot be compared: ${reason}`];
  return [`${object}:`, ...formatDiff(lines).map((line) => `  ${line}`)];
}
