import { delimiter, resolve } from 'node:path';
import type { Command } from 'commander';
import { loadConfig, type RestConfig } from 'riata';
import type { CommandIo } from './command-io.js';

/** Options by which commands find the cluster. */
export interface ClusterOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** Adds the options by which a command finds the cluster, as kubectl names them. */
export function withClusterOptions(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'the kubeconfig (default: $KUBECONFIG, the cluster around, ~/.kube/config)')
    .option('--context <name>', 'the context of the kubeconfig (default: its current one)');
}

/** The connection that the options name, by the environment and the folder of the command. */
export function clusterConfig(
  { cwd, env }: Pick<CommandIo, 'cwd' | 'env'>,
  { kubeconfig, context }: ClusterOptions,
): Promise<RestConfig> {
  const listed = env.KUBECONFIG?.split(delimiter).map((path) => (path === '' ? path : resolve(cwd, path)));
  return loadConfig({
    env: { ...env, ...(listed && { KUBECONFIG: listed.join(delimiter) }) },
    ...(kubeconfig && { path: resolve(cwd, kubeconfig) }),
    ...(context && { context }),
  });
}
