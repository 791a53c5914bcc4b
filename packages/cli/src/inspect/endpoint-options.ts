import type { Command } from 'commander';
import { type ClusterOptions, withClusterOptions } from '../command/cluster-options.js';
import { type ProjectOptions, withProjectOptions } from '../command/project-options.js';

/** Options by which commands find a running operator. */
export interface EndpointOptions extends ProjectOptions, ClusterOptions {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly insecureSkipTlsVerify?: boolean;
}

/** Adds the options by which a command finds a running operator. */
export function withEndpointOptions(command: Command): Command {
  const own = command
    .option('--url <url>', 'where the operator serves its metrics (default: its Pods, by port-forwards)')
    .option('--token-file <file>', 'the token for protected metrics (default: $RIATA_TOKEN)')
    .option('--insecure-skip-tls-verify', 'accept any certificate of --url');
  return withClusterOptions(withProjectOptions(own));
}
