import { Command, Option } from 'commander';
import { type ClusterOptions, withClusterOptions } from '../command/cluster-options.js';
import type { CommandDefinition } from '../command/command-definition.js';
import { type ProjectOptions, withProjectOptions } from '../command/project-options.js';
import type { ManifestFormat } from './manifest-files.js';

/** Options of `riata manifests`. */
export interface ManifestsCommandOptions extends ProjectOptions, ClusterOptions {
  readonly output?: string;
  readonly format: ManifestFormat;
  readonly check?: boolean;
  readonly diff?: boolean;
  readonly fromTests?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

const after = `
Files say that they are generated; those that no longer are get removed. To change an object, change it by code:
  operator({ …, objects: (operator) => deployment(operator, { replicas: 3 }) })

Examples: riata manifests --format kustomize --output deploy/base
          riata manifests --check
          riata manifests --output - | kubectl apply --server-side -f -`;

/** `riata manifests`: all objects that an operator needs in a cluster, as YAML. */
export const manifestsCommand: CommandDefinition = (io) => {
  const command = new Command('manifests')
    .description('Writes all objects that the operator needs in a cluster, as YAML.')
    .option('--output <folder>', 'where files go, or - for standard output (default: manifests beside the config)')
    .addOption(new Option('--format <format>', 'of the files').choices(['yaml', 'kustomize']).default('yaml'))
    .option('--check', 'write nothing; exit with 3 if files are stale, and show the lines')
    .option('--diff', 'write nothing; compare with a cluster, and exit with 3 if it differs')
    .option('--from-tests <file>', 'grant the rights that tests used: JSON.stringify(usedRights(env.requests))')
    .option('--force', 'overwrite files that were edited by hand')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', after)
    .action(async (options: ManifestsCommandOptions) => {
      const { writeManifests } = await import('./write-manifests.js');
      await writeManifests(io, options);
    });
  return withClusterOptions(withProjectOptions(command));
};
