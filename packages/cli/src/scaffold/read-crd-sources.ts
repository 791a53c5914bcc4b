import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createClient } from 'riata';
import type { CrdManifest } from 'riata/object';
import { crdsFromCluster, crdsFromDirectory, crdsFromYaml } from 'riata/patterns';
import { describeError } from 'riata/runtime';
import { type ClusterOptions, clusterConfig } from '../command/cluster-options.js';
import { CommandError, exitCodes } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';

/** Where definitions come from. */
export interface CrdSources extends ClusterOptions {
  /** Files, folders and URLs. */
  readonly sources: readonly string[];
  /** Only those of these API groups. @default all */
  readonly groups?: readonly string[];
}

/**
 * Reads CustomResourceDefinitions from files, folders and URLs, and from a cluster if a kubeconfig or context is given.
 * Sorted by name. Throws if there are none, or if two sources disagree about one.
 */
export async function readCrdSources(io: CommandIo, options: CrdSources): Promise<readonly CrdManifest[]> {
  const { sources, groups } = options;
  const isFromCluster = options.context !== undefined || options.kubeconfig !== undefined;
  if (sources.length === 0 && !isFromCluster) {
    throw new CommandError('give files, folders or URLs, or the cluster to read: --context or --kubeconfig', {
      exitCode: exitCodes.usage,
    });
  }
  const all = new Map<string, { readonly source: string; readonly crd: CrdManifest }>();
  const add = (source: string, crds: readonly CrdManifest[]) => {
    if (crds.length === 0) throw new CommandError(`${source}: has no CustomResourceDefinition`);
    for (const crd of crds) {
      const { name } = crd.metadata;
      const other = all.get(name);
      if (other !== undefined && JSON.stringify(other.crd.spec) !== JSON.stringify(crd.spec)) {
        throw new CommandError(`${name} differs between ${other.source} and ${source}; give one of them`);
      }
      all.set(name, { source, crd });
    }
  };
  for (const source of sources) add(source, await readSource(io, source));
  if (isFromCluster) add('the cluster', await readCluster(io, options));
  const found = [...all.values()].map(({ crd }) => crd).filter(({ spec }) => groups?.includes(spec.group) ?? true);
  if (found.length === 0) {
    const seen = [...new Set([...all.values()].map(({ crd }) => crd.spec.group))].sort().join(', ');
    throw new CommandError(`no CustomResourceDefinition of group ${groups?.join(', ')}; there are: ${seen}`);
  }
  return found.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

async function readSource(io: CommandIo, source: string): Promise<readonly CrdManifest[]> {
  if (/^https?:\/\//.test(source)) return parse(source, await download(source, io.signal));
  const path = resolve(io.cwd, source);
  if (!existsSync(path)) throw new CommandError(`${source}: not found`);
  if (!statSync(path).isDirectory()) return parse(source, await readFile(path, 'utf8'));
  return crdsFromDirectory(path).catch((error: unknown) => {
    throw new CommandError(describeError(error), { cause: error });
  });
}

async function parse(source: string, text: string): Promise<readonly CrdManifest[]> {
  try {
    return await crdsFromYaml(text);
  } catch (error) {
    throw new CommandError(`${source}: ${describeError(error)}`, { cause: error });
  }
}

async function download(url: string, signal: AbortSignal): Promise<string> {
  let response: Response;
  try {
    response = await fetch(url, { signal });
  } catch (error) {
    if (signal.aborted) throw error;
    const { cause } = error as Error;
    throw new CommandError(`${url}: ${describeError(cause ?? error)}`, { cause: error });
  }
  if (!response.ok) throw new CommandError(`${url}: the server answered ${response.status} ${response.statusText}`);
  return response.text();
}

async function readCluster(io: CommandIo, options: ClusterOptions): Promise<readonly CrdManifest[]> {
  await using client = createClient(await clusterConfig(io, options), { runtime: io.runtime });
  return await crdsFromCluster(client, { signal: io.signal });
}
