import { basename, dirname } from 'node:path';
import type { Logger } from '../../runtime/log/logger.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { type AuthorizationSource, basic, bearer, fixedAuthorization } from '../auth/authorization-source.js';
import { type ExecCluster, ExecPlugin, type ExecPluginOptions, execApiVersions } from '../auth/exec-plugin.js';
import { KubeCredentials } from '../auth/kube-credentials.js';
import { type PemSource, TlsFiles } from '../auth/tls-files.js';
import { TokenFile } from '../auth/token-file.js';
import type { Fields } from './fields.js';
import type { Credentials, Impersonation } from './rest-config.js';

/** The options that all ways to a configuration share. */
export interface AuthOptions {
  /** Decides when files are looked at again, when plugin credentials expire and when a plugin is given up. @default the system's */
  readonly clock?: Scheduler;
  /** Logs rotated certificates and tokens that cannot be used, without their contents. @default consoleLogger() */
  readonly log?: Logger;
  /** Environment variables: KUBECONFIG, HOME, KUBERNETES_SERVICE_HOST, HTTPS_PROXY…, and what plugins inherit. @default process.env */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Longest run of a credential plugin that cannot ask the user; 0 = no limit. @default 60_000 */
  readonly execTimeoutMs?: number;
}

const modes = ['Never', 'IfAvailable', 'Always'] as const;

/** The stanzas of old, and what took their place. */
const replacements: Readonly<Record<string, string>> = {
  gcp: 'gke-gcloud-auth-plugin',
  azure: 'kubelogin (Azure)',
  oidc: 'kubelogin (kubectl oidc-login)',
};

/** The credentials that a user entry and the trust of its cluster entry make. Files are read once, so broken ones show now. */
export async function userCredentials(
  user: Fields,
  cluster: Fields,
  clusterInfo: Omit<ExecCluster, 'certificate-authority-data'>,
  options: Required<AuthOptions>,
): Promise<Credentials> {
  const { clock, log } = options;
  refuseAuthProvider(user);
  const cert = pemSource(user, 'client-certificate');
  const key = pemSource(user, 'client-key');
  if ((cert === undefined) !== (key === undefined)) {
    const missing = cert === undefined ? 'client-certificate' : 'client-key';
    throw user.error(missing, `is missing (or ${missing}-data); a client certificate and its key go together`);
  }
  const files = await TlsFiles.load({ ca: pemSource(cluster, 'certificate-authority'), cert, key, clock, log });
  const header = await headerSource(user, options);
  if (header !== undefined || cert !== undefined) return new KubeCredentials(files, header);
  const exec = user.section('exec');
  if (exec === undefined) return new KubeCredentials(files);
  const describeCluster = async (): Promise<ExecCluster> => {
    const { ca } = await files.current();
    const data = ca === undefined ? undefined : Buffer.from(ca).toString('base64');
    return { ...clusterInfo, 'certificate-authority-data': data };
  };
  return new KubeCredentials(files, new ExecPlugin(await execOptions(exec, describeCluster, options)));
}

/** Whom the user entry asks to act as. */
export function impersonation(user: Fields): Impersonation | undefined {
  const name = user.text('as');
  const [uid, groups, extra] = [user.text('as-uid'), user.texts('as-groups'), user.section('as-user-extra')];
  if (name === undefined) {
    const stray = ['as-uid', 'as-groups', 'as-user-extra'].find((field) => user.has(field));
    if (stray !== undefined) throw user.error(stray, 'is given without "as"; name the user to act as');
    return undefined;
  }
  const values = extra && Object.fromEntries(extra.keys().map((field) => [field, extra.texts(field)]));
  return { user: name, uid, groups: groups.length > 0 ? groups : undefined, extra: values };
}

function pemSource(fields: Fields, name: string): PemSource | undefined {
  const data = fields.bytes(`${name}-data`);
  if (data !== undefined) return { from: { data }, place: fields.place(`${name}-data`) };
  const file = fields.path(name);
  return file === undefined ? undefined : { from: { file }, place: fields.place(name) };
}

async function headerSource(
  user: Fields,
  { clock, log }: Required<AuthOptions>,
): Promise<AuthorizationSource | undefined> {
  const [token, file] = [user.text('token'), user.path('tokenFile')];
  const [username, password] = [user.text('username'), user.text('password')];
  const hasBasic = username !== undefined || password !== undefined;
  if (hasBasic && (token !== undefined || file !== undefined)) {
    throw user.error(undefined, 'has both a token and a user name or password; keep one');
  }
  if (file !== undefined) {
    const source = new TokenFile({ file, clock, log, place: user.place('tokenFile'), fallback: token });
    await source.authorization();
    return source;
  }
  if (token !== undefined) return fixedAuthorization(bearer(token, user.place('token')), 'token');
  return hasBasic ? fixedAuthorization(basic(username ?? '', password ?? ''), 'basic') : undefined;
}

async function execOptions(
  exec: Fields,
  cluster: () => Promise<ExecCluster>,
  { clock, env, execTimeoutMs }: Required<AuthOptions>,
): Promise<ExecPluginOptions> {
  const { isatty } = await import('node:tty');
  const apiVersion = exec.text('apiVersion');
  if (apiVersion === undefined || !execApiVersions.includes(apiVersion)) {
    throw exec.error('apiVersion', `must be ${execApiVersions.join(' or ')}, got ${apiVersion ?? 'none'}`);
  }
  const command = exec.text('command');
  if (command === undefined) throw exec.error('command', 'is missing');
  const mode = exec.text('interactiveMode') ?? (apiVersion.endsWith('/v1') ? undefined : 'IfAvailable');
  const interactiveMode = modes.find((known) => known === mode);
  if (interactiveMode === undefined) {
    throw exec.error(
      'interactiveMode',
      `must be one of ${modes.join(', ')}, got ${mode ?? 'none, which only v1beta1 allows'}`,
    );
  }
  return {
    apiVersion,
    // A bare name is looked up in PATH; one with a folder belongs to the kubeconfig's own.
    command: basename(command) === command && dirname(command) === '.' ? command : (exec.path('command') ?? command),
    args: exec.texts('args'),
    env: exec.sections('env').map((variable) => {
      const name = variable.text('name');
      if (name === undefined) throw variable.error('name', 'is missing');
      return { name, value: variable.text('value') ?? '' };
    }),
    interactiveMode,
    installHint: exec.text('installHint'),
    cluster: exec.flag('provideClusterInfo') ? cluster : undefined,
    baseEnv: env,
    clock,
    timeoutMs: execTimeoutMs,
    // Not process.stdin.isTTY: reading that opens the stream.
    terminal: isatty(0),
  };
}

function refuseAuthProvider(user: Fields): void {
  const provider = user.section('auth-provider');
  if (provider === undefined) return;
  const name = provider.text('name') ?? 'unnamed';
  const plugin = Object.hasOwn(replacements, name) ? `, such as ${replacements[name]}` : '';
  throw user.error('auth-provider', `"${name}" is not supported; use an exec plugin instead${plugin}`);
}
