import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { isConfigError } from './config-error.js';
import { configFromKubeconfig, type KubeconfigOptions } from './config-from-kubeconfig.js';
import type { Kubeconfig, KubeconfigCluster, KubeconfigUser } from './kubeconfig.js';

const x509: {
  issueCertificate(options: { commonName: string }): { cert: string; key: string };
} = await import(new URL('../../../../../tools/control-plane/x509.mjs', import.meta.url).href);
const own = x509.issueCertificate({ commonName: 'dev' });
const base64 = (text: string) => Buffer.from(text).toString('base64');
const server = 'https://10.0.0.1:6443';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'riata-kubeconfig-'));
});
afterEach(() => rm(dir, { recursive: true }));

function kubeconfig(user: object = {}, cluster: object = {}, context: object = {}): Kubeconfig {
  return {
    'current-context': 'dev',
    clusters: [{ name: 'dev', cluster: { server, ...cluster } as KubeconfigCluster }],
    users: [{ name: 'dev', user: user as KubeconfigUser }],
    contexts: [{ name: 'dev', context: { cluster: 'dev', user: 'dev', ...context } }],
  };
}
const load = (input: string | Kubeconfig, options: KubeconfigOptions = {}) =>
  configFromKubeconfig(input, {
    baseDir: dir,
    name: 'kubeconfig /x/config',
    clock: new VirtualClock(),
    env: {},
    ...options,
  });
const problem = async (input: string | Kubeconfig, options?: KubeconfigOptions): Promise<string> => {
  const error: unknown = await load(input, options).catch((thrown: unknown) => thrown);
  return isConfigError(error) ? error.message : `no ConfigError: ${String(error)}`;
};

describe('reading', () => {
  test('YAML, JSON, bytes and an object give the same', async () => {
    const yaml = [
      'apiVersion: v1',
      'kind: Config',
      'current-context: dev',
      'preferences: {}',
      `clusters: [{ name: dev, cluster: { server: "${server}/" } }]`,
      'contexts: [{ name: dev, context: { cluster: dev, user: dev, namespace: team } }]',
      'users: [{ name: dev, user: { token: abc } }]',
    ].join('\n');
    const value = kubeconfig({ token: 'abc' }, {}, { namespace: 'team' });
    for (const input of [yaml, `\uFEFF${yaml}`, JSON.stringify(value), value]) {
      const config = await load(input);
      expect(config).toMatchObject({ server, namespace: 'team' });
      expect(await config.credentials?.authorization()).toBe('Bearer abc');
    }
    expect(await configFromKubeconfig(Buffer.from(yaml))).toMatchObject({ server });
  });

  test('all settings of a cluster', async () => {
    const config = await load(
      kubeconfig(
        {},
        {
          'tls-server-name': 'kube.example',
          'proxy-url': 'socks5://proxy:1080',
          'insecure-skip-tls-verify': true,
          'disable-compression': true,
        },
      ),
    );
    expect(config).toMatchObject({
      server,
      tlsServerName: 'kube.example',
      proxyUrl: 'socks5://proxy:1080',
      insecureSkipTlsVerify: true,
      disableCompression: true,
      namespace: 'default',
    });
  });

  test('impersonation', async () => {
    const user = { as: 'jane', 'as-uid': '7', 'as-groups': ['a', 'b'], 'as-user-extra': { scopes: ['x', 'y'] } };
    expect((await load(kubeconfig(user))).impersonate).toEqual({
      user: 'jane',
      uid: '7',
      groups: ['a', 'b'],
      extra: { scopes: ['x', 'y'] },
    });
    expect(await problem(kubeconfig({ 'as-groups': ['a'] }))).toContain(
      'users[dev].user.as-groups: is given without "as"',
    );
  });

  test('numbers and words that YAML takes for something else stay what was written', async () => {
    const yaml = `
current-context: 007
clusters: [{ name: 1e3, cluster: { server: "${server}", insecure-skip-tls-verify: yes } }]
contexts: [{ name: 007, context: { cluster: 1e3, user: 0x1F, namespace: 0123 } }]
users: [{ name: 0x1F, user: { username: 12, password: 0.10 } }]`;
    const config = await load(yaml);
    expect(config).toMatchObject({ namespace: '0123', insecureSkipTlsVerify: true });
    expect(await config.credentials?.authorization()).toBe(`Basic ${base64('12:0.10')}`);
  });

  test('another context, server and namespace than the file says', async () => {
    const two = {
      ...kubeconfig({}, { 'tls-server-name': 'kube.example' }),
      contexts: [
        { name: 'dev', context: { cluster: 'dev', user: 'dev' } },
        { name: 'other', context: { cluster: 'dev', namespace: 'blue' } },
      ],
    };
    expect(await load(two, { context: 'other' })).toMatchObject({ namespace: 'blue', tlsServerName: 'kube.example' });
    const moved = await load(two, { server: 'https://[::1]:8443/prefix/?q#f', namespace: 'red' });
    expect(moved).toMatchObject({ server: 'https://[::1]:8443/prefix', namespace: 'red' });
    expect(moved.tlsServerName).toBeUndefined();
  });

  test('credentials are not for a server without TLS', async () => {
    const config = await load(kubeconfig({ token: 'abc' }, { server: 'http://127.0.0.1:8080' }));
    expect(await config.credentials?.authorization()).toBeUndefined();
  });

  test('hostile names are only names', async () => {
    const text = JSON.stringify(kubeconfig()).replaceAll('"dev"', '"__proto__"');
    expect(await load(text)).toMatchObject({ server });
    expect(await problem(kubeconfig(), { context: 'constructor' })).toContain('there is no context "constructor"');
  });
});

describe('credentials', () => {
  test('inline data goes before files, which are not even looked at', async () => {
    const config = await load(
      kubeconfig(
        {
          'client-certificate': 'missing.crt',
          'client-certificate-data': base64(own.cert),
          'client-key': 'missing.key',
          'client-key-data': base64(own.key),
        },
        { 'certificate-authority': 'missing.crt', 'certificate-authority-data': base64(own.cert) },
      ),
    );
    expect({ ...(await config.credentials?.tls()) }).toEqual({ ca: own.cert, cert: own.cert, key: own.key });
  });

  test('relative paths start from the folder of the kubeconfig', async () => {
    await mkdir(join(dir, 'pki'));
    await Promise.all([
      writeFile(join(dir, 'pki/tls.crt'), own.cert),
      writeFile(join(dir, 'pki/tls.key'), own.key),
      writeFile(join(dir, 'token'), 'from-file\n'),
    ]);
    const config = await load(
      kubeconfig(
        { 'client-certificate': 'pki/tls.crt', 'client-key': './pki/tls.key', tokenFile: 'token' },
        { 'certificate-authority': 'pki/tls.crt' },
      ),
    );
    expect({ ...(await config.credentials?.tls()) }).toEqual({ ca: own.cert, cert: own.cert, key: own.key });
    expect(await config.credentials?.authorization()).toBe('Bearer from-file');
  });

  test('tokenFile goes before token', async () => {
    await writeFile(join(dir, 'token'), 'from-file');
    const config = await load(kubeconfig({ token: 'spare', tokenFile: 'token' }));
    expect(await config.credentials?.authorization()).toBe('Bearer from-file');
  });

  const exec = (more: object = {}) => ({
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: ['plugin.mjs'],
      interactiveMode: 'Never',
      ...more,
    },
  });
  const answering = `process.stdout.write(JSON.stringify({
    kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1',
    status: { token: Buffer.from(process.env.KUBERNETES_EXEC_INFO).toString('base64url') } }));`;

  test('an exec plugin gets the cluster and its extension', async () => {
    await writeFile(join(dir, 'plugin.mjs'), answering);
    const config = await load(
      kubeconfig(exec({ args: [join(dir, 'plugin.mjs')], provideClusterInfo: true }), {
        'certificate-authority-data': base64(own.cert),
        'tls-server-name': 'kube.example',
        extensions: [
          { name: 'other', extension: 1 },
          { name: 'client.authentication.k8s.io/exec', extension: { audience: 5 } },
        ],
      }),
    );
    const header = (await config.credentials?.authorization()) ?? '';
    expect(JSON.parse(Buffer.from(header.slice(7), 'base64url').toString())).toMatchObject({
      spec: {
        interactive: false,
        cluster: {
          server,
          'tls-server-name': 'kube.example',
          'certificate-authority-data': base64(own.cert),
          config: { audience: 5 },
        },
      },
    });
  });

  test('a plugin with a folder in its name is found from the kubeconfig, one without in PATH', async () => {
    const inFolder = await load(kubeconfig(exec({ command: './bin/login' })));
    expect(JSON.stringify(inFolder)).toContain(`exec ${join(dir, 'bin/login')}`);
    expect(JSON.stringify(await load(kubeconfig(exec({ command: 'login' }))))).toContain('"exec login"');
  });

  test('a token beside a plugin is used instead of it', async () => {
    const config = await load(kubeconfig({ token: 'abc', ...exec() }));
    expect(await config.credentials?.authorization()).toBe('Bearer abc');
  });

  test.each([
    [
      { apiVersion: 'client.authentication.k8s.io/v1alpha1' },
      'exec.apiVersion: must be client.authentication.k8s.io/v1 or',
    ],
    [{ interactiveMode: undefined }, 'exec.interactiveMode: must be one of Never, IfAvailable, Always, got none'],
    [{ interactiveMode: 'Maybe' }, 'got Maybe'],
    [{ command: '' }, 'exec.command: is missing'],
    [{ env: [{ value: 'SECRET' }] }, 'exec.env[0].name: is missing'],
    [{ args: 'SECRET' }, 'exec.args: must be a list of strings, got another string'],
  ])('a plugin with %o', async (more, expected) => {
    const message = await problem(kubeconfig(exec(more)));
    expect(message).toContain(`kubeconfig /x/config (context "dev"): users[dev].user.`);
    expect(message).toContain(expected);
    expect(message).not.toContain('SECRET');
  });

  test('v1beta1 may leave interactiveMode open', async () => {
    const user = exec({ apiVersion: 'client.authentication.k8s.io/v1beta1', interactiveMode: undefined });
    expect(JSON.stringify(await load(kubeconfig(user)))).toContain('exec');
  });

  test('auth-provider is refused by name', async () => {
    const user = { 'auth-provider': { name: 'gcp', config: { 'access-token': 'SECRET' } } };
    expect(await problem(kubeconfig(user))).toBe(
      'kubeconfig /x/config (context "dev"): users[dev].user.auth-provider: "gcp" is not supported; ' +
        'use an exec plugin instead, such as gke-gcloud-auth-plugin',
    );
  });
});

describe('a broken file is a message that names the field', () => {
  const at = 'kubeconfig /x/config (context "dev"): ';
  const user = (fields: object) => kubeconfig(fields);
  const cluster = (fields: object) => kubeconfig({}, fields);
  test.each<[Kubeconfig, string]>([
    [
      user({ 'client-certificate': '/no/tls.crt', 'client-key': '/no/tls.key' }),
      `${at}users[dev].user.client-certificate: file /no/tls.crt cannot be read: no such file`,
    ],
    [user({ tokenFile: '/no/token' }), `${at}users[dev].user.tokenFile: file /no/token cannot be read: no such file`],
    [
      cluster({ 'certificate-authority': '/no/ca' }),
      `${at}clusters[dev].cluster.certificate-authority: file /no/ca cannot be read: no such file`,
    ],
    [
      cluster({ 'certificate-authority-data': 'SECRET*' }),
      `${at}clusters[dev].cluster.certificate-authority-data: is not base64`,
    ],
    [
      cluster({ 'certificate-authority-data': base64('SECRET') }),
      `${at}clusters[dev].cluster.certificate-authority-data: holds no PEM certificate`,
    ],
    [
      user({ 'client-certificate-data': base64(own.cert) }),
      `${at}users[dev].user.client-key: is missing (or client-key-data)`,
    ],
    [user({ 'client-key-data': base64(own.key) }), `${at}users[dev].user.client-certificate: is missing`],
    [
      user({ token: 'SECRET', password: 'SECRET' }),
      `${at}users[dev].user: has both a token and a user name or password`,
    ],
    [user({ token: ['SECRET'] }), `${at}users[dev].user.token: must be a string, got a list`],
    [cluster({ server: '' }), `${at}clusters[dev].cluster.server: is missing`],
    [cluster({ server: 'localhost:8080' }), `got "localhost:8080"; write https://localhost:8080`],
    [
      cluster({ server: 'https://u:SECRET@host' }),
      `${at}clusters[dev].cluster.server: must not contain a user name or password`,
    ],
    [cluster({ server: 'https://u:SECRET@host:port' }), `${at}clusters[dev].cluster.server: is not a valid URL`],
    [
      cluster({ 'proxy-url': 'ftp://u:SECRET@host' }),
      `${at}clusters[dev].cluster.proxy-url: must be a URL that starts with http://`,
    ],
    [
      cluster({ 'insecure-skip-tls-verify': 'perhaps' }),
      `${at}clusters[dev].cluster.insecure-skip-tls-verify: must be true or false`,
    ],
    [
      cluster({ 'insecure-skip-tls-verify': true, 'certificate-authority': 'ca' }),
      `${at}clusters[dev].cluster.insecure-skip-tls-verify: may not be set together with certificate-authority`,
    ],
    [
      kubeconfig({}, {}, { cluster: 'prod' }),
      `${at}contexts[dev].context.cluster: there is no cluster "prod"; the clusters are: dev`,
    ],
    [
      kubeconfig({}, {}, { user: 'root' }),
      `${at}contexts[dev].context.user: there is no user "root"; the users are: dev`,
    ],
    [kubeconfig({}, {}, { cluster: '' }), `${at}contexts[dev].context.cluster: is missing; the clusters are: dev`],
    [
      { ...kubeconfig(), 'current-context': 'prod' },
      'kubeconfig /x/config: current-context: there is no context "prod"; the contexts are: dev',
    ],
    [
      { ...kubeconfig(), 'current-context': '' },
      'current-context: is not set, and no context was asked for; the contexts are: dev',
    ],
    [{ ...kubeconfig(), kind: 'Pod' }, 'kubeconfig /x/config: kind: must be "Config", got "Pod"'],
    [
      {
        ...kubeconfig(),
        users: [
          { name: 'a', user: {} },
          { name: 'a', user: {} },
        ],
      },
      'kubeconfig /x/config: users[a]: duplicate name',
    ],
    [{ ...kubeconfig(), users: [{ name: '', user: {} }] }, 'kubeconfig /x/config: users[0].name: is missing'],
    [{ ...kubeconfig(), users: {} as never }, 'kubeconfig /x/config: users: must be a list of mappings, got a mapping'],
    [
      { ...kubeconfig(), clusters: ['SECRET' as never] },
      'kubeconfig /x/config: clusters[0]: must be a mapping, got another string',
    ],
    [{}, 'kubeconfig /x/config: is empty'],
  ])('%#', async (input, expected) => {
    const message = await problem(input);
    expect(message).toContain(expected);
    expect(message).not.toContain('SECRET');
  });

  test.each([
    ['users:\n- name: a\n  user: {token: "SECRET\n', /^kubeconfig \/x\/config: line \d: not valid YAML: /],
    ['current-context: dev\ncurrent-context: SECRET\n', /line 2: not valid YAML: duplicate key/],
    ['a: b\n\tc: SECRET\n', /line 2: not valid YAML/],
    ['{"token": "SECRET",', /line 1: not valid YAML/],
    ['a: *SECRET', /not valid YAML/],
    ['SECRET', /must be a mapping with clusters, users and contexts; this is not a kubeconfig/],
    ['---\na: 1\n---\nb: SECRET', /there is more than one document/],
  ])('text %#', async (text, expected) => {
    const message = await problem(text);
    expect(message).toMatch(expected);
    expect(message).not.toContain('SECRET');
  });

  test('the reason can be asked for', async () => {
    await expect(load(kubeconfig(), { context: 'x' })).rejects.toMatchObject({ reason: 'ContextNotFound' });
    await expect(load('')).rejects.toMatchObject({ reason: 'Empty' });
    await expect(load(kubeconfig({ token: [] }))).rejects.toMatchObject({
      reason: 'Invalid',
      source: 'kubeconfig /x/config',
      context: 'dev',
      field: 'users[dev].user.token',
    });
  });
});
