import { consoleLogger } from '../../runtime/log/console-logger.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { systemClock } from '../../runtime/time/system-clock.js';
import type { ExecCluster } from '../auth/exec-plugin.js';
import { anonymous } from '../auth/static-credentials.js';
import { proxyProblem } from '../transport/http/proxy.js';
import { ConfigError } from './config-error.js';
import { environmentProxy } from './environment-proxy.js';
import { Fields } from './fields.js';
import { isEmptyKubeconfig, type Kubeconfig, type KubeconfigEntries, kubeconfigEntries } from './kubeconfig.js';
import { printable } from './printable.js';
import { readKubeconfigText } from './read-kubeconfig-text.js';
import type { RestConfig } from './rest-config.js';
import { serverUrl } from './server-url.js';
import { type AuthOptions, impersonation, userCredentials } from './user-credentials.js';

/** Overrides of the configuration. */
export interface ConfigOverrides {
  /** The context to use. @default the kubeconfig's current-context */
  readonly context?: string;
  /** Takes the place of the cluster's server; its tls-server-name no longer counts then. */
  readonly server?: string;
  /** Takes the place of the context's namespace. */
  readonly namespace?: string;
}

/** How {@link configFromKubeconfig} reads. */
export interface KubeconfigOptions extends AuthOptions, ConfigOverrides {
  /** The folder that relative paths start from. @default the working directory */
  readonly baseDir?: string;
  /** Its name in errors. @default 'kubeconfig' */
  readonly name?: string;
}

export const kubeconfigOptionNames = optionNames<KubeconfigOptions>({
  baseDir: true,
  name: true,
  clock: true,
  log: true,
  env: true,
  execTimeoutMs: true,
  context: true,
  server: true,
  namespace: true,
});

/** Where the exec plugin's own settings are kept in a cluster entry. */
const execExtension = 'client.authentication.k8s.io/exec';

/**
 * Makes a configuration from a kubeconfig: its text (YAML or JSON), bytes, or the object itself
 * (`clientcmd.RESTConfigFromKubeConfig`, `clientcmd.NewClientConfigFromBytes`, `clientcmd.NewDefaultClientConfig` and
 * `clientcmd.NewNonInteractiveClientConfig`, followed by `ClientConfig()`). Files it names are read now, so that a
 * missing one shows, and again when used after they have changed. Rejects with a `ConfigError` that names the field.
 *
 * Credentials are left out for a server without TLS, as kubectl does. Without a `proxy-url`, the proxy is the one that
 * `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name.
 */
export async function configFromKubeconfig(
  input: string | Uint8Array | Kubeconfig,
  options: KubeconfigOptions = {},
): Promise<RestConfig> {
  refuseUnknownOptions('configFromKubeconfig', options, kubeconfigOptionNames);
  const { name: source = 'kubeconfig', baseDir = process.cwd() } = options;
  const isText = typeof input === 'string' || input instanceof Uint8Array;
  const value = isText ? await readKubeconfigText(input, source) : input;
  return configFromEntries(kubeconfigEntries(value, source, baseDir), options);
}

/** The same for a kubeconfig that is already read and merged. */
export async function configFromEntries(
  entries: KubeconfigEntries,
  options: AuthOptions & ConfigOverrides,
): Promise<RestConfig> {
  const { context, cluster, user } = pick(entries, options.context);
  const server = serverUrl(options.server ?? cluster.text('server'), (problem) =>
    options.server === undefined ? cluster.error('server', problem) : new ConfigError(problem, { field: 'server' }),
  );
  const insecureSkipTlsVerify = cluster.flag('insecure-skip-tls-verify');
  const caField = ['certificate-authority-data', 'certificate-authority'].find((field) => cluster.has(field));
  if (insecureSkipTlsVerify && caField !== undefined) {
    throw cluster.error('insecure-skip-tls-verify', `may not be set together with ${caField}; remove one`);
  }
  const common = {
    server,
    tlsServerName: options.server === undefined ? cluster.text('tls-server-name') : undefined,
    insecureSkipTlsVerify: insecureSkipTlsVerify || undefined,
    proxyUrl: proxyUrl(cluster),
    disableCompression: cluster.flag('disable-compression') || undefined,
  };
  const execCluster: ExecCluster = {
    server,
    'tls-server-name': common.tlsServerName,
    'insecure-skip-tls-verify': common.insecureSkipTlsVerify,
    'proxy-url': common.proxyUrl,
    'disable-compression': common.disableCompression,
    config: cluster
      .sections('extensions')
      .find((entry) => entry.text('name') === execExtension)
      ?.raw('extension'),
  };
  const secure = server.startsWith('https:');
  return printable({
    ...common,
    proxyUrl: common.proxyUrl ?? environmentProxy(server, options.env),
    credentials: secure ? await userCredentials(user, cluster, execCluster, withDefaults(options)) : anonymous,
    impersonate: impersonation(user),
    namespace: options.namespace ?? context.text('namespace') ?? 'default',
  });
}

/** Fills in what {@link AuthOptions} leaves open. */
export function withDefaults(options: AuthOptions): Required<AuthOptions> {
  const { clock = systemClock, env = process.env, execTimeoutMs = 60_000, log = consoleLogger({ clock }) } = options;
  return { clock, env, execTimeoutMs, log };
}

interface Picked {
  readonly context: Fields;
  readonly cluster: Fields;
  readonly user: Fields;
}

function pick(entries: KubeconfigEntries, expected: string | undefined): Picked {
  const { source, contexts, clusters, users, currentContext } = entries;
  if (isEmptyKubeconfig(entries))
    throw new ConfigError('is empty: no clusters, users or contexts', { source, reason: 'Empty' });
  const contextName = expected ?? currentContext;
  if (contextName === undefined) {
    throw new ConfigError(`is not set, and no context was asked for; ${listed('contexts', contexts)}`, {
      source,
      field: 'current-context',
      reason: 'ContextNotFound',
    });
  }
  const context = contexts.get(contextName)?.inContext(contextName);
  if (context === undefined) {
    const field = expected === undefined ? 'current-context' : undefined;
    const problem = `there is no context "${contextName}"; ${listed('contexts', contexts)}`;
    throw new ConfigError(problem, { source, field, reason: 'ContextNotFound' });
  }
  const cluster = entryOf(context, 'cluster', 'clusters', clusters);
  if (cluster === undefined) throw context.error('cluster', `is missing; ${listed('clusters', clusters)}`);
  const user = entryOf(context, 'user', 'users', users) ?? new Fields({}, context.place('user'), '');
  return { context, cluster: cluster.inContext(contextName), user: user.inContext(contextName) };
}

function entryOf(context: Fields, key: string, list: string, entries: ReadonlyMap<string, Fields>): Fields | undefined {
  const name = context.text(key);
  if (name === undefined) return undefined;
  const entry = entries.get(name);
  if (entry === undefined) throw context.error(key, `there is no ${key} "${name}"; ${listed(list, entries)}`);
  return entry;
}

function listed(what: string, entries: ReadonlyMap<string, unknown>): string {
  const names = [...entries.keys()].sort();
  return names.length === 0 ? `there are no ${what}` : `the ${what} are: ${names.join(', ')}`;
}

function proxyUrl(cluster: Fields): string | undefined {
  const text = cluster.text('proxy-url');
  const problem = text === undefined ? undefined : proxyProblem(text);
  if (problem !== undefined) throw cluster.error('proxy-url', problem);
  return text;
}
