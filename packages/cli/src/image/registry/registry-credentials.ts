import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How a client shows a registry who it is. Never part of a message. */
export type RegistryCredentials =
  | { readonly type: 'basic'; readonly username: string; readonly password: string }
  /** An OAuth refresh token, which is exchanged for access tokens. */
  | { readonly type: 'refresh'; readonly token: string }
  | { readonly type: 'bearer'; readonly token: string };

/** Finds the credentials for a repository; undefined: none, the request is anonymous. */
export type CredentialStore = (registry: string, repository: string) => Promise<RegistryCredentials | undefined>;

/** What {@link dockerCredentials} takes. */
export interface DockerCredentialsOptions {
  /** `DOCKER_CONFIG`, `REGISTRY_AUTH_FILE`, `HOME` and `PATH` are read. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

interface DockerConfig {
  readonly auths?: Readonly<Record<string, DockerAuth>>;
  readonly credHelpers?: Readonly<Record<string, string>>;
  readonly credsStore?: string;
}

interface DockerAuth {
  readonly auth?: string;
  readonly username?: string;
  readonly password?: string;
  readonly identitytoken?: string;
  readonly registrytoken?: string;
}

/**
 * Credentials as `docker login` and `podman login` keep them: in `~/.docker/config.json`, the folder `DOCKER_CONFIG` or the
 * file `REGISTRY_AUTH_FILE`, as text or by a credential helper (`docker-credential-*` on the PATH). The file is read at
 * the first question.
 */
export function dockerCredentials(options: DockerCredentialsOptions): CredentialStore {
  const { env } = options;
  let config: Promise<DockerConfig> | undefined;
  return async (registry, repository) => {
    config ??= readConfig(configPath(env));
    const { auths = {}, credHelpers = {}, credsStore } = await config;
    const names = namesOf(registry, repository);
    for (const name of names) {
      const helper = Object.hasOwn(credHelpers, name) ? credHelpers[name] : undefined;
      if (helper !== undefined) return fromHelper(helper, name, options);
    }
    for (const name of names) {
      const found = Object.entries(auths).find(([key]) => withoutScheme(key) === name);
      const credentials = found === undefined ? undefined : fromAuth(found[1], name);
      if (credentials !== undefined) return credentials;
      // With a store, `docker login` leaves an empty entry under the name to ask the store for.
      if (found !== undefined && credsStore) return fromHelper(credsStore, found[0], options);
    }
    if (!credsStore) return undefined;
    return fromHelper(credsStore, registry === 'docker.io' ? dockerHubKey : registry, options);
  };
}

const dockerHubKey = 'https://index.docker.io/v1/';

/** The names under which a repository's credentials may be kept, the most specific first; Podman knows those with a path. */
function namesOf(registry: string, repository: string): string[] {
  const parts = repository.split('/');
  const paths = parts.map((_, index) => `${registry}/${parts.slice(0, parts.length - index).join('/')}`);
  return [...paths, registry, ...(registry === 'docker.io' ? ['index.docker.io'] : [])];
}

/** `https://registry.example.com/v2/` → `registry.example.com`; a name without scheme keeps its path. */
function withoutScheme(key: string): string {
  return /^https?:\/\//.test(key) ? key.replace(/^https?:\/\//, '').replace(/\/.*$/, '') : key.replace(/\/$/, '');
}

function fromAuth(entry: DockerAuth, name: string): RegistryCredentials | undefined {
  if (entry.registrytoken) return { type: 'bearer', token: entry.registrytoken };
  if (entry.identitytoken) return { type: 'refresh', token: entry.identitytoken };
  if (entry.auth) {
    const text = Buffer.from(entry.auth, 'base64').toString('utf8').replace(/\0+$/, '');
    const colon = text.indexOf(':');
    if (colon === -1) throw new Error(`Docker config: auth of "${name}" is not base64 of user:password; log in again`);
    return { type: 'basic', username: text.slice(0, colon), password: text.slice(colon + 1) };
  }
  if (!entry.username) return undefined;
  return { type: 'basic', username: entry.username, password: entry.password ?? '' };
}

function configPath(env: DockerCredentialsOptions['env']): string | undefined {
  if (env.REGISTRY_AUTH_FILE) return env.REGISTRY_AUTH_FILE;
  if (env.DOCKER_CONFIG) return join(env.DOCKER_CONFIG, 'config.json');
  const home = env.HOME ?? env.USERPROFILE;
  return home ? join(home, '.docker/config.json') : undefined;
}

async function readConfig(path: string | undefined): Promise<DockerConfig> {
  if (path === undefined) return {};
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}';
    throw new Error(`${path}: cannot be read: ${error.code ?? 'unknown error'}`);
  });
  try {
    return JSON.parse(text) as DockerConfig;
  } catch {
    // The parser's message quotes the text, which holds passwords.
    throw new Error(`${path}: malformed JSON`);
  }
}

/** Asks `docker-credential-NAME`, by the protocol of docker-credential-helpers. */
async function fromHelper(
  name: string,
  server: string,
  { env, signal }: DockerCredentialsOptions,
): Promise<RegistryCredentials | undefined> {
  if (!/^[\w.-]+$/.test(name)) throw new Error(`credential helper "${name}" is not a valid name`);
  const program = `docker-credential-${name}`;
  const { code, output } = await runHelper(program, server, env, signal);
  if (code !== 0) {
    // Their word for: you have not logged in.
    if (/credentials not found/i.test(output)) return undefined;
    throw new Error(`${program} get: exit code ${code}; try it with: echo ${server} | ${program} get`);
  }
  let answer: { Username?: unknown; Secret?: unknown };
  try {
    answer = JSON.parse(output);
  } catch {
    throw new Error(`${program} get: malformed JSON`);
  }
  const { Username, Secret } = answer;
  if (typeof Username !== 'string' || typeof Secret !== 'string')
    throw new Error(`${program} get: no Username and Secret`);
  return Username === '<token>'
    ? { type: 'refresh', token: Secret }
    : { type: 'basic', username: Username, password: Secret };
}

function runHelper(
  program: string,
  input: string,
  env: DockerCredentialsOptions['env'],
  signal: AbortSignal | undefined,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['get'], { env, stdio: ['pipe', 'pipe', 'ignore'], ...(signal && { signal }) });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'ENOENT' ? 'not found on the PATH' : error.message;
      reject(signal?.aborted ? signal.reason : new Error(`${program}: ${reason}; the Docker config names it`));
    });
    child.once('close', (code) => resolve({ code, output }));
    child.stdin.on('error', () => {}); // it may end without reading
    child.stdin.end(input);
  });
}
