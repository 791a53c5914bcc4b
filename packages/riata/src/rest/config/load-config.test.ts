import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { inClusterConfig } from './in-cluster-config.js';
import { kubeconfigFor } from './kubeconfig-for.js';
import { type LoadConfigOptions, loadConfig } from './load-config.js';

const x509: {
  issueCertificate(options: { commonName: string }): { cert: string; key: string };
} = await import(new URL('../../../../../tools/control-plane/x509.mjs', import.meta.url).href);
const { cert: ca } = x509.issueCertificate({ commonName: 'ca' });

let dir: string;
let clock: VirtualClock;
let homeDir: string;
let serviceAccountDir: string;
const pod = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'riata-load-'));
  clock = new VirtualClock();
  [homeDir, serviceAccountDir] = [join(dir, 'home'), join(dir, 'serviceaccount')];
});
afterEach(() => rm(dir, { recursive: true }));

const load = (options: LoadConfigOptions = {}) =>
  loadConfig({ homeDir, serviceAccountDir, clock, env: {}, ...options });

async function write(file: string, content: string | object): Promise<string> {
  const path = join(dir, file);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}
const kubeconfig = (name: string, token = name) =>
  kubeconfigFor({ server: `https://${name}.example`, token, name, namespace: `${name}-ns` });
const serviceAccount = async () => {
  await write('serviceaccount/token', 'pod-token');
  await write('serviceaccount/ca.crt', ca);
  await write('serviceaccount/namespace', 'pod-ns\n');
};

describe('search order', () => {
  test('path, KUBECONFIG, in-cluster, home, server', async () => {
    const [path, fromEnv] = [await write('explicit', kubeconfig('explicit')), await write('env', kubeconfig('env'))];
    await write('home/.kube/config', kubeconfig('home'));
    await serviceAccount();
    const env = { ...pod, KUBECONFIG: fromEnv };
    expect((await load({ path, env })).server).toBe('https://explicit.example');
    expect((await load({ env })).server).toBe('https://env.example');
    expect((await load({ env: pod })).server).toBe('https://10.96.0.1');
    expect((await load()).server).toBe('https://home.example');
    await rm(homeDir, { recursive: true });
    expect(await load({ server: 'http://127.0.0.1:8001' })).toMatchObject({ server: 'http://127.0.0.1:8001' });
  });

  test('home is HOME unless said otherwise', async () => {
    await write('home/.kube/config', kubeconfig('home'));
    expect((await load({ homeDir: undefined, env: { HOME: homeDir } })).server).toBe('https://home.example');
  });

  test('a context that is asked for is looked up in files, not in the Pod', async () => {
    await serviceAccount();
    await write('home/.kube/config', kubeconfig('home'));
    expect((await load({ env: pod, context: 'home' })).server).toBe('https://home.example');
  });

  test('a KUBECONFIG whose files are all missing gives way to the Pod, not to home', async () => {
    await serviceAccount();
    await write('home/.kube/config', kubeconfig('home'));
    const KUBECONFIG = join(dir, 'nowhere');
    expect((await load({ env: { ...pod, KUBECONFIG } })).server).toBe('https://10.96.0.1');
    await expect(load({ env: { KUBECONFIG } })).rejects.toThrow(`KUBECONFIG: ${KUBECONFIG}: no such file`);
  });

  test('server takes the place of what was found', async () => {
    await write('home/.kube/config', kubeconfig('home'));
    const config = await load({ server: 'https://other.example', namespace: 'mine' });
    expect(config).toMatchObject({ server: 'https://other.example', namespace: 'mine' });
    expect(await config.credentials?.authorization()).toBe('Bearer home');
  });

  test('the proxy of the environment, wherever the server comes from, unless the kubeconfig names one', async () => {
    const path = await write('explicit', kubeconfig('explicit'));
    const proxied = { ...kubeconfigFor({ server: 'https://a.example', proxyUrl: 'socks5://own:1080' }) };
    const own = await write('own', proxied);
    await serviceAccount();
    const env = { HTTPS_PROXY: 'http://u:SECRET@proxy:3128', http_proxy: 'plain:80', NO_PROXY: '.internal' };
    expect((await load({ path, env })).proxyUrl).toBe('http://u:SECRET@proxy:3128');
    expect((await load({ path: own, env })).proxyUrl).toBe('socks5://own:1080');
    expect((await load({ env: { ...pod, ...env } })).proxyUrl).toBe('http://u:SECRET@proxy:3128');
    expect((await load({ env, server: 'http://b.example' })).proxyUrl).toBe('http://plain:80');
    expect((await load({ path, env, server: 'https://b.internal' })).proxyUrl).toBeUndefined();
    expect((await load({ path, env, server: 'https://127.0.0.1:6443' })).proxyUrl).toBeUndefined();
    expect((await load({ path })).proxyUrl).toBeUndefined();
    expect(String(await load({ path, env }))).not.toContain('SECRET');
  });

  test('a proxy of the environment that cannot be one', async () => {
    const path = await write('explicit', kubeconfig('explicit'));
    const refusal = load({ path, env: { HTTPS_PROXY: 'ftp://u:SECRET@proxy' } });
    await expect(refusal).rejects.toThrow(
      'environment: HTTPS_PROXY: must be a URL that starts with http://, https:// or socks5://, got one with "ftp://"; ' +
        'correct it, or except the server by NO_PROXY',
    );
  });

  test('nothing found: each place and what it lacked', async () => {
    const empty = await write('empty', 'apiVersion: v1\nkind: Config\n');
    const error = await load({ env: pod }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      reason: 'Empty',
      message: [
        'no configuration found; tried',
        '  KUBECONFIG: not set',
        `  in-cluster: token: file ${join(serviceAccountDir, 'token')} cannot be read: no such file`,
        `  home: ${join(homeDir, '.kube/config')}: no such file`,
        'Set KUBECONFIG to the kubeconfig file of your cluster, or give its path. No cluster? `npx -p @riata/sandbox riata-sandbox --kubeconfig FILE` starts one.',
      ].join('\n'),
    });
    await expect(load({ env: { KUBECONFIG: empty } })).rejects.toThrow(
      `  KUBECONFIG: ${empty}: has no clusters, users or contexts\n` +
        '  in-cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is not a Pod\n',
    );
  });

  test('a path has to exist, and what is broken is not skipped', async () => {
    await write('home/.kube/config', kubeconfig('home'));
    await expect(load({ path: join(dir, 'nowhere') })).rejects.toThrow(
      `kubeconfig ${join(dir, 'nowhere')}: cannot be read: no such file`,
    );
    await expect(load({ env: { KUBECONFIG: dir } })).rejects.toThrow(
      `kubeconfig ${dir}: cannot be read: it is a directory`,
    );
    const broken = await write('broken', 'a: [');
    await expect(load({ env: { KUBECONFIG: broken } })).rejects.toThrow(`kubeconfig ${broken}: line 1: not valid YAML`);
  });
});

describe('merge', () => {
  const merged = (...files: string[]) => ({ env: { KUBECONFIG: ['', ...files, files[0]].join(delimiter) } });

  test('the first file that has a name wins with its whole entry; missing files are skipped', async () => {
    const first = await write('first', {
      users: [{ name: 'dev', user: { username: 'first' } }],
      contexts: [{ name: 'ctx', context: { cluster: 'dev', user: 'dev' } }],
    });
    const second = await write('second', {
      'current-context': 'ctx',
      clusters: [{ name: 'dev', cluster: { server: 'https://second.example' } }],
      users: [{ name: 'dev', user: { password: 'second' } }],
      contexts: [{ name: 'ctx', context: { cluster: 'dev', namespace: 'second' } }],
    });
    const third = await write('third', {
      'current-context': 'other',
      clusters: [{ name: 'dev', cluster: { server: 'https://third.example' } }],
    });
    const config = await load(merged(join(dir, 'missing'), first, second, third));
    expect(config).toMatchObject({ server: 'https://second.example', namespace: 'default' });
    expect(await config.credentials?.authorization()).toBe(`Basic ${Buffer.from('first:').toString('base64')}`);
  });

  test('paths in a file start from its own folder', async () => {
    await write('b/token', 'token-of-b');
    const a = await write('a/config', {
      'current-context': 'x',
      contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
    });
    const b = await write('b/config', {
      clusters: [{ name: 'x', cluster: { server: 'https://x.example' } }],
      users: [{ name: 'x', user: { tokenFile: 'token' } }],
    });
    expect(await (await load(merged(a, b))).credentials?.authorization()).toBe('Bearer token-of-b');
    await rm(join(dir, 'b/token'));
    await expect(load(merged(a, b))).rejects.toThrow(
      `kubeconfig ${b} (context "x"): users[x].user.tokenFile: file ${join(dir, 'b/token')} cannot be read: no such file`,
    );
  });

  test('an unknown context lists those of all files', async () => {
    const [a, b] = [await write('a', kubeconfig('a')), await write('b', kubeconfig('b'))];
    await expect(load({ ...merged(a, b), context: 'c' })).rejects.toThrow(
      `kubeconfig ${a}, kubeconfig ${b}: there is no context "c"; the contexts are: a, b`,
    );
  });
});

describe('in-cluster', () => {
  const inCluster = (env: Record<string, string> = pod) => inClusterConfig({ env, serviceAccountDir, clock });

  test('token, CA and namespace of the service account; the token rotates', async () => {
    await serviceAccount();
    const config = await inCluster();
    expect(config).toMatchObject({ server: 'https://10.96.0.1', namespace: 'pod-ns' });
    expect(await config.credentials?.authorization()).toBe('Bearer pod-token');
    expect({ ...(await config.credentials?.tls()) }).toEqual({ ca });
    await write('serviceaccount/token', 'next-token');
    await clock.advance(60_000);
    expect(await config.credentials?.authorization()).toBe('Bearer next-token');
  });

  test('IPv6, POD_NAMESPACE, and neither CA nor namespace mounted', async () => {
    await write('serviceaccount/token', 'pod-token');
    const config = await inCluster({ KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' });
    expect(config).toMatchObject({ server: 'https://[fd00::1]:6443', namespace: 'default' });
    expect({ ...(await config.credentials?.tls()) }).toEqual({});
    expect((await inCluster({ ...pod, POD_NAMESPACE: 'told' })).namespace).toBe('told');
  });

  test('outside of a Pod', async () => {
    await expect(inCluster({})).rejects.toMatchObject({ reason: 'NotInCluster' });
    await expect(inCluster()).rejects.toThrow('in-cluster configuration: token: file');
    await serviceAccount();
    await write('serviceaccount/ca.crt', 'nonsense');
    await expect(inCluster()).rejects.toThrow('in-cluster configuration: ca.crt: file');
  });
});
