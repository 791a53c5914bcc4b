import type { Command } from 'commander';
import { loadConfig, type RestConfig } from 'riata';

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

/** The connection that the options name. */
export function clusterConfig({ kubeconfig, context }: ClusterOptions): Promise<RestConfig> {
  return loadConfig({ ...(kubeconfig && { path: kubeconfig }), ...(context && { context }) });
}
