import { ConfigError } from './config-error.js';
import { Fields, isMapping } from './fields.js';

/** How a credential plugin is run (`clientcmdapi.ExecConfig`). */
export interface KubeconfigExec {
  readonly apiVersion: string;
  readonly command: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  readonly interactiveMode?: 'Never' | 'IfAvailable' | 'Always';
  readonly provideClusterInfo?: boolean;
  readonly installHint?: string;
}

/** A server of a kubeconfig and how to trust it (`clientcmdapi.Cluster`). */
export interface KubeconfigCluster {
  readonly server: string;
  readonly 'tls-server-name'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'proxy-url'?: string;
  readonly 'disable-compression'?: boolean;
  readonly extensions?: readonly { readonly name: string; readonly extension: unknown }[];
}

/** Who a kubeconfig says one is (`clientcmdapi.AuthInfo`). */
export interface KubeconfigUser {
  readonly 'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  readonly 'client-key'?: string;
  readonly 'client-key-data'?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly as?: string;
  readonly 'as-uid'?: string;
  readonly 'as-groups'?: readonly string[];
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>>;
  readonly username?: string;
  readonly password?: string;
  readonly exec?: KubeconfigExec;
}

/** A cluster and a user of a kubeconfig, put together by name (`clientcmdapi.Context`). */
export interface KubeconfigContext {
  readonly cluster: string;
  readonly user?: string;
  readonly namespace?: string;
}

/** A kubeconfig as it is in a file (`clientcmdapi.Config`). It may hold secrets: do not log it. */
export interface Kubeconfig {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly 'current-context'?: string;
  readonly clusters?: readonly { readonly name: string; readonly cluster: KubeconfigCluster }[] | null;
  readonly users?: readonly { readonly name: string; readonly user: KubeconfigUser }[] | null;
  readonly contexts?: readonly { readonly name: string; readonly context: KubeconfigContext }[] | null;
}

/** One kubeconfig, or several merged, by name. Each entry knows which file it came from. */
export interface KubeconfigEntries {
  readonly source: string;
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, Fields>;
  readonly users: ReadonlyMap<string, Fields>;
  readonly contexts: ReadonlyMap<string, Fields>;
}

/** Sorts a parsed kubeconfig by names. Relative paths in it mean files under `dir`. */
export function kubeconfigEntries(value: unknown, source: string, dir: string): KubeconfigEntries {
  // kubectl takes an empty file for an empty configuration.
  const config = value ?? {};
  if (!isMapping(config)) {
    throw new ConfigError('must be a mapping with clusters, users and contexts; this is not a kubeconfig', { source });
  }
  const fields = new Fields(config, { source }, dir);
  expectField(fields, 'apiVersion', 'v1');
  expectField(fields, 'kind', 'Config');
  return {
    source,
    currentContext: fields.text('current-context'),
    clusters: fields.named('clusters', 'cluster'),
    users: fields.named('users', 'user'),
    contexts: fields.named('contexts', 'context'),
  };
}

/**
 * Merges as clientcmd does: the first file that has a name wins with its whole entry, and the first non-empty
 * current-context counts.
 */
export function mergeKubeconfigs(files: readonly KubeconfigEntries[]): KubeconfigEntries {
  const firstWins = (part: (file: KubeconfigEntries) => ReadonlyMap<string, Fields>) =>
    new Map(files.toReversed().flatMap((file) => [...part(file)]));
  return {
    source: files.map(({ source }) => source).join(', '),
    currentContext: files.find(({ currentContext }) => currentContext !== undefined)?.currentContext,
    clusters: firstWins((file) => file.clusters),
    users: firstWins((file) => file.users),
    contexts: firstWins((file) => file.contexts),
  };
}

/** Whether there is nothing in it at all, as in the file that `kubectl config unset` leaves behind. */
export function isEmptyKubeconfig({ currentContext, clusters, users, contexts }: KubeconfigEntries): boolean {
  return currentContext === undefined && clusters.size + users.size + contexts.size === 0;
}

function expectField(fields: Fields, name: string, expected: string): void {
  const value = fields.text(name);
  if (value !== undefined && value !== expected) {
    throw fields.error(name, `must be "${expected}", got "${value}"; this is not a kubeconfig`);
  }
}
