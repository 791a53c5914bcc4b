import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { anonymous } from '../auth/static-credentials.js';
import { ConfigError, errorCode, fileProblem, isConfigError } from './config-error.js';
import { type ConfigOverrides, configFromEntries } from './config-from-kubeconfig.js';
import { environmentProxy } from './environment-proxy.js';
import { inClusterConfig } from './in-cluster-config.js';
import { isEmptyKubeconfig, type KubeconfigEntries, kubeconfigEntries, mergeKubeconfigs } from './kubeconfig.js';
import { printable } from './printable.js';
import { readKubeconfigText } from './read-kubeconfig-text.js';
import type { RestConfig } from './rest-config.js';
import { serverUrl } from './server-url.js';
import type { AuthOptions } from './user-credentials.js';

/** Where {@link loadConfig} looks, and what it takes instead of what it finds. */
export interface LoadConfigOptions extends AuthOptions, ConfigOverrides {
  /** A kubeconfig file that has to exist, as with `--kubeconfig`. Nothing else is looked at then. */
  readonly path?: string;
  /** @default HOME, else what the system says */
  readonly homeDir?: string;
  /** Where a Pod's service account is mounted. @default '/var/run/secrets/kubernetes.io/serviceaccount' */
  readonly serviceAccountDir?: string;
}

export const loadConfigOptionNames = optionNames<LoadConfigOptions>({
  path: true,
  homeDir: true,
  serviceAccountDir: true,
  clock: true,
  log: true,
  env: true,
  execTimeoutMs: true,
  context: true,
  server: true,
  namespace: true,
});

/** Places that had nothing, in the order they were looked at. */
type Tried = { readonly where: string; readonly why: string }[];

/**
 * Finds the configuration as controller-runtime's `config.GetConfig` and kubectl do (`GetConfigOrDie`,
 * `clientcmd.BuildConfigFromFlags(url, path)` as `{ server, path }`,
 * `clientcmd.NewNonInteractiveDeferredLoadingClientConfig` with its overrides as options). The first that exists counts:
 *
 * 1. the file at `path`;
 * 2. the files listed in `KUBECONFIG`, merged, missing ones skipped;
 * 3. the service account of the Pod that this process runs in, unless a `context` is asked for;
 * 4. `~/.kube/config`, unless `KUBECONFIG` is set;
 * 5. `server` alone, without credentials.
 *
 * A server that is not on this machine is reached through the proxy that its `proxy-url` names, else `HTTPS_PROXY` or
 * `HTTP_PROXY` unless `NO_PROXY` excepts it, as kubectl does.
 *
 * Rejects with a `ConfigError`: what exists but is broken is never skipped in favour of the next place, except a
 * service account that cannot be used; with nothing found, the message lists each place and what it lacked.
 */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<RestConfig> {
  refuseUnknownOptions('loadConfig', options, loadConfigOptionNames);
  const env = options.env ?? process.env;
  const tried: Tried = [];
  if (options.path) return configFromEntries(await readExplicit(resolve(options.path)), options);

  const listed = env.KUBECONFIG ?? '';
  if (listed !== '') {
    const files = [...new Set(listed.split(delimiter).filter((file) => file !== ''))].map((file) => resolve(file));
    const entries = await readMerged(files, 'KUBECONFIG', tried);
    if (entries !== undefined) return configFromEntries(entries, options);
  } else {
    tried.push({ where: 'KUBECONFIG', why: 'not set' });
  }

  const inCluster = await tryInCluster(options, tried);
  if (inCluster !== undefined) return inCluster;

  if (listed === '') {
    const home = options.homeDir ?? (env.HOME || homedir());
    const entries = await readMerged([join(home, '.kube', 'config')], 'home', tried);
    if (entries !== undefined) return configFromEntries(entries, options);
  }

  if (options.server !== undefined && options.context === undefined) {
    const server = serverUrl(options.server, (problem) => new ConfigError(problem, { field: 'server' }));
    const proxyUrl = environmentProxy(server, env);
    return printable({ server, proxyUrl, credentials: anonymous, namespace: options.namespace ?? 'default' });
  }
  const places = tried.map(({ where, why }) => `  ${where}: ${why}`).join('\n');
  throw new ConfigError(
    `no configuration found; tried\n${places}\nSet KUBECONFIG to the kubeconfig file of your cluster, or give its path. No cluster? \`npx -p @riata/sandbox riata-sandbox --kubeconfig FILE\` starts one.`,
    {
      reason: 'Empty',
    },
  );
}

async function tryInCluster(options: LoadConfigOptions, tried: Tried): Promise<RestConfig | undefined> {
  const where = 'in-cluster';
  if (options.context !== undefined) {
    tried.push({ where, why: `has no contexts, and "${options.context}" was asked for` });
    return undefined;
  }
  try {
    const { path: _, homeDir: __, context: ___, ...given } = options;
    return await inClusterConfig(given);
  } catch (error) {
    if (!isConfigError(error)) throw error;
    tried.push({ where, why: error.message.replace(`${error.source}: `, '') });
    return undefined;
  }
}

async function readExplicit(file: string): Promise<KubeconfigEntries> {
  const entries = await readEntries(file);
  if (entries === undefined) throw new ConfigError(`cannot be read: no such file`, { source: `kubeconfig ${file}` });
  return entries;
}

async function readMerged(
  files: readonly string[],
  where: string,
  tried: Tried,
): Promise<KubeconfigEntries | undefined> {
  const found: KubeconfigEntries[] = [];
  for (const file of files) {
    const entries = await readEntries(file);
    if (entries === undefined) tried.push({ where: `${where}: ${file}`, why: 'no such file' });
    else if (isEmptyKubeconfig(entries))
      tried.push({ where: `${where}: ${file}`, why: 'has no clusters, users or contexts' });
    else found.push(entries);
  }
  return found.length === 0 ? undefined : mergeKubeconfigs(found);
}

/** Undefined when the file does not exist. */
async function readEntries(file: string): Promise<KubeconfigEntries | undefined> {
  const source = `kubeconfig ${file}`;
  try {
    const bytes = await readFile(file);
    return kubeconfigEntries(await readKubeconfigText(bytes, source), source, dirname(file));
  } catch (error) {
    if (isConfigError(error)) throw error;
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new ConfigError(`cannot be read: ${fileProblem(error)}`, { source });
  }
}
