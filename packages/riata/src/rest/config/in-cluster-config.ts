import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { KubeCredentials } from '../auth/kube-credentials.js';
import { TlsFiles } from '../auth/tls-files.js';
import { TokenFile } from '../auth/token-file.js';
import { ConfigError, type ConfigPlace, errorCode, fileProblem } from './config-error.js';
import { type ConfigOverrides, withDefaults } from './config-from-kubeconfig.js';
import { environmentProxy } from './environment-proxy.js';
import { printable } from './printable.js';
import type { RestConfig } from './rest-config.js';
import { serverUrl } from './server-url.js';
import type { AuthOptions } from './user-credentials.js';

/** How {@link inClusterConfig} looks for the service account. */
export interface InClusterOptions extends AuthOptions, Omit<ConfigOverrides, 'context'> {
  /** Where token, CA and namespace of the service account are mounted. @default '/var/run/secrets/kubernetes.io/serviceaccount' */
  readonly serviceAccountDir?: string;
}

export const inClusterOptionNames = optionNames<InClusterOptions>({
  serviceAccountDir: true,
  clock: true,
  log: true,
  env: true,
  execTimeoutMs: true,
  namespace: true,
  server: true,
});

const source = 'in-cluster configuration';
const mount = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The configuration of a Pod: the service account that Kubernetes mounts into it (`rest.InClusterConfig`). The token is
 * read again every minute, the CA every ten seconds, when used. Without a mounted CA the system's are trusted. The
 * namespace is `POD_NAMESPACE` or the service account's.
 *
 * Rejects with a `ConfigError` of reason `NotInCluster` where `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`
 * are not set (`rest.ErrNotInCluster`).
 */
export async function inClusterConfig(options: InClusterOptions = {}): Promise<RestConfig> {
  refuseUnknownOptions('inClusterConfig', options, inClusterOptionNames);
  const { clock, env, log } = withDefaults(options);
  const dir = options.serviceAccountDir ?? mount;
  const [host, port] = [env.KUBERNETES_SERVICE_HOST ?? '', env.KUBERNETES_SERVICE_PORT ?? ''];
  if (host === '' || port === '') {
    throw new ConfigError('KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is not a Pod', {
      source,
      reason: 'NotInCluster',
    });
  }
  const address = `https://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
  const server = serverUrl(options.server ?? address, (problem) => {
    const field = options.server === undefined ? 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT' : 'server';
    return new ConfigError(problem, { source, field });
  });
  const token = new TokenFile({ file: join(dir, 'token'), place: place('token'), clock, log });
  await token.authorization();
  const caFile = join(dir, 'ca.crt');
  const ca = (await exists(caFile)) ? { from: { file: caFile }, place: place('ca.crt') } : undefined;
  const files = await TlsFiles.load({ ca, clock, log });
  return printable({
    server,
    proxyUrl: environmentProxy(server, env),
    credentials: new KubeCredentials(files, token),
    namespace: options.namespace ?? (await namespaceOf(env.POD_NAMESPACE, join(dir, 'namespace'))),
  });
}

const place = (field: string): ConfigPlace => ({ source, field });

async function exists(file: string): Promise<boolean> {
  return (await readOptional(file, 'ca.crt')) !== undefined;
}

async function namespaceOf(fromEnv: string | undefined, file: string): Promise<string> {
  const name = fromEnv || (await readOptional(file, 'namespace'))?.trim();
  return name || 'default';
}

async function readOptional(file: string, field: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new ConfigError(`file ${file} cannot be read: ${fileProblem(error)}`, place(field));
  }
}
