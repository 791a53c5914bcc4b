import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectedClient, createClient } from 'riata/client';
import { ConfigMap, Namespace } from 'riata/kinds';
import { SelfSubjectReview } from 'riata/kinds/authentication.k8s.io/v1';
import {
  configFromKubeconfig,
  isForbidden,
  isTlsError,
  isUnauthorized,
  type KubeconfigCluster,
  type KubeconfigOptions,
  type KubeconfigUser,
  loadConfig,
} from 'riata/rest';
import { memoryLogger, silentLogger, VirtualClock } from 'riata/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { controlPlane, describeServers, realOnly, rejection } from './servers.js';

describeServers(
  'credentials',
  (server) => {
    let dir = '';
    beforeEach(async () => {
      dir = await mkdtemp(join(tmpdir(), 'riata-credentials-'));
    });
    afterEach(() => rm(dir, { recursive: true }));

    test('a kubeconfig file: its contexts are different users', async () => {
      const { kubeconfigPath: path, plainUser, token, plainToken } = controlPlane();
      const config = await loadConfig({ path });
      await using admin = createClient(config);
      expect(await whoAmI(admin)).toMatchObject({
        username: 'admin',
        groups: expect.arrayContaining(['system:masters']),
      });
      await using plain = createClient(await loadConfig({ path, context: 'plain' }));
      expect((await whoAmI(plain)).username).toBe(plainUser);
      const printed = `${JSON.stringify(config)} ${String(config.credentials)}`;
      expect(printed).not.toContain(token);
      expect(printed).not.toContain(plainToken);
    });

    test('RBAC: what is refused says who may not do what, where', async () => {
      const { kubeconfigPath: path } = controlPlane();
      await using plain = createClient(await loadConfig({ path, context: 'plain' }));
      const namespace = await server().namespace();
      const error = await rejection(plain.create(ConfigMap({ metadata: { namespace, name: 'a' } })));
      expect(error).toSatisfy(isForbidden);
      expect(error.message).toContain(
        `POST /api/v1/namespaces/${namespace}/configmaps: configmaps is forbidden: User "plain" cannot create resource ` +
          `"configmaps" in API group "" in the namespace "${namespace}"`,
      );
      expect(error.message).toContain('403 Forbidden');
      await expect(plain.find(ConfigMap, { namespace, name: 'a' })).rejects.toSatisfy(isForbidden);
      await expect(plain.watch(ConfigMap, { namespace })).rejects.toSatisfy(isForbidden);
      const watching = async () => {
        for await (const event of plain.retryingWatch(ConfigMap, { namespace })) expect(event.type).toBe('RESET');
      };
      await expect(watching()).rejects.toSatisfy(isForbidden);
    });

    test('no credentials are anonymous, and forbidden; wrong ones are unauthorized', async () => {
      await using anonymous = await clientFor({});
      const forbidden = await rejection(anonymous.list(Namespace));
      expect(forbidden).toSatisfy(isForbidden);
      expect(forbidden.message).toContain('User "system:anonymous" cannot list resource "namespaces"');
      const token = 'not-the-right-one';
      await using stranger = await clientFor({ token });
      const unauthorized = await rejection(stranger.list(Namespace));
      expect(unauthorized).toSatisfy(isUnauthorized);
      expect(unauthorized.message).not.toContain(token);
    });

    test('an exec plugin: run once, and again after a 401', async () => {
      const runs = join(dir, 'runs');
      const script = join(dir, 'plugin.mjs');
      // Each run writes a letter; the first gives a token that the server does not know.
      await writeFile(
        script,
        `import { appendFileSync, readFileSync } from 'node:fs';
      appendFileSync(process.env.RUNS, 'x');
      const token = readFileSync(process.env.RUNS, 'utf8') === 'x' ? 'stale' : process.env.GOOD;
      const { apiVersion } = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
      console.log(JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token } }));`,
      );
      for (const version of ['v1', 'v1beta1']) {
        await writeFile(runs, '');
        const exec = {
          apiVersion: `client.authentication.k8s.io/${version}`,
          command: process.execPath,
          args: [script],
          env: [
            { name: 'RUNS', value: runs },
            { name: 'GOOD', value: controlPlane().token },
          ],
          interactiveMode: 'Never',
        } as const;
        await using client = await clientFor({ exec });
        const users = await Promise.all([whoAmI(client), whoAmI(client), whoAmI(client)]);
        expect(users.map((user) => user.username)).toEqual(['admin', 'admin', 'admin']);
        await whoAmI(client);
        expect(await readFile(runs, 'utf8')).toBe('xx');
      }
    });

    test('an exec plugin: a client certificate, and a failure in its own words', async () => {
      const { cert, key } = controlPlane().clientCertificate('plugged-in', ['plugins']);
      const status = { clientCertificateData: cert, clientKeyData: key };
      const answer = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status };
      const file = join(dir, 'credential.json');
      await writeFile(file, JSON.stringify(answer));
      const print = 'process.stdout.write(require("node:fs").readFileSync(process.argv[1]))';
      const plugin = (...args: string[]) =>
        ({
          apiVersion: 'client.authentication.k8s.io/v1',
          command: process.execPath,
          args: ['-e', ...args],
          interactiveMode: 'Never',
        }) as const;
      await using client = await clientFor({ exec: plugin(print, file) });
      expect(await whoAmI(client)).toMatchObject({
        username: 'plugged-in',
        groups: expect.arrayContaining(['plugins']),
      });
      await using broken = await clientFor({ exec: plugin('console.error("log in first"); process.exit(3)') });
      await expect(whoAmI(broken)).rejects.toThrow(/log in first/);
    });

    test('client certificate files: replaced while a watch is open, new requests come as the new user', async () => {
      const clock = new VirtualClock();
      const files = { 'client-certificate': join(dir, 'tls.crt'), 'client-key': join(dir, 'tls.key') };
      const write = async (user: string) => {
        const { cert, key } = controlPlane().clientCertificate(user, ['system:masters']);
        await Promise.all([writeFile(files['client-certificate'], cert), writeFile(files['client-key'], key)]);
      };
      await write('first');
      const log = memoryLogger();
      await using client = await clientFor(files, {}, { clock, log });
      const namespace = await server().namespace();
      await using watch = await client.watch(ConfigMap, { namespace });
      expect((await whoAmI(client)).username).toBe('first');
      await write('second');
      expect((await whoAmI(client)).username).toBe('first');
      await clock.advance(10_000);
      expect((await whoAmI(client)).username).toBe('second');
      // Half a rotation: the key does not belong to the certificate yet.
      await writeFile(files['client-key'], controlPlane().clientCertificate('third').key);
      await clock.advance(10_000);
      expect((await whoAmI(client)).username).toBe('second');
      expect(log.records).toMatchObject([
        { level: 'warn', fields: { problem: expect.stringContaining(`file ${files['client-key']}: `) } },
      ]);
      await client.create(ConfigMap({ metadata: { namespace, name: 'a' } }));
      for await (const event of watch) {
        if (event.type === 'BOOKMARK') continue;
        expect(event).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });
        break;
      }
    });

    test('a token file is read again after a minute, and at once when the token is refused', async () => {
      const clock = new VirtualClock();
      const { token, plainToken } = controlPlane();
      const tokenFile = join(dir, 'token');
      await writeFile(tokenFile, `${token}\n`);
      await using client = await clientFor({ tokenFile }, {}, { clock });
      expect((await whoAmI(client)).username).toBe('admin');
      await writeFile(tokenFile, plainToken);
      expect((await whoAmI(client)).username).toBe('admin');
      await clock.advance(60_000);
      expect((await whoAmI(client)).username).toBe('plain');
      await writeFile(tokenFile, 'revoked');
      await clock.advance(60_000);
      await expect(whoAmI(client)).rejects.toSatisfy(isUnauthorized);
      await writeFile(tokenFile, token);
      expect((await whoAmI(client)).username).toBe('admin');
    });

    test('a client certificate that has expired, or is not valid yet, is refused, and the error says so', async () => {
      const validity = { notBefore: new Date('2020-01-01'), notAfter: new Date('2020-01-02') };
      const { cert, key } = controlPlane().clientCertificate('late', ['system:masters'], validity);
      await using client = await clientFor(inline(cert, key));
      const error = await rejection(whoAmI(client));
      expect(error).toSatisfy(isUnauthorized);
      expect(error.message).toContain('the client certificate expired on 2020-01-02T00:00:00Z');
      const early = { notBefore: new Date('2099-01-01'), notAfter: new Date('2099-01-02') };
      const pair = controlPlane().clientCertificate('early', [], early);
      await using tooEarly = await clientFor(inline(pair.cert, pair.key));
      await expect(whoAmI(tooEarly)).rejects.toThrow('valid only from 2099-01-01T00:00:00Z');
    });

    test('acting as another user by the kubeconfig', async () => {
      const { token } = controlPlane();
      await using client = await clientFor({ token, as: 'jane', 'as-groups': ['testers'] });
      expect(await whoAmI(client)).toMatchObject({ username: 'jane', groups: ['testers', 'system:authenticated'] });
    });

    test('TLS: the name in the certificate, another name to check it by, an authority that is not ours', async () => {
      const { token, clientCaFile, url } = controlPlane();
      await using wrong = await clientFor({ token }, { 'tls-server-name': 'elsewhere.example' });
      const mismatch = await rejection(whoAmI(wrong));
      expect(mismatch).toSatisfy(isTlsError);
      expect(mismatch.message).toMatch(/elsewhere\.example.*localhost.*tls-server-name/s);
      await using named = await clientFor({ token }, { 'tls-server-name': 'kubernetes.default.svc' });
      expect((await whoAmI(named)).username).toBe('admin');
      const port = new URL(url).port;
      await using local = await clientFor({ token }, { server: `https://localhost:${port}` });
      expect((await whoAmI(local)).username).toBe('admin');

      const other = { 'certificate-authority-data': base64(await readFile(clientCaFile, 'utf8')) };
      await using untrusting = await clientFor({ token }, other);
      const distrust = await rejection(whoAmI(untrusting));
      expect(distrust).toSatisfy(isTlsError);
      expect(distrust.message).toContain('certificate-authority');
      expect(distrust.message).not.toContain(token);
      const careless = { 'certificate-authority-data': undefined, 'insecure-skip-tls-verify': true };
      await using trusting = await clientFor({ token }, careless);
      expect((await whoAmI(trusting)).username).toBe('admin');
      await using plainHttp = await clientFor({ token }, { server: `http://127.0.0.1:${port}` });
      await expect(whoAmI(plainHttp)).rejects.toThrow('Client sent an HTTP request to an HTTPS server');
    });
  },
  realOnly,
);

async function whoAmI(client: ConnectedClient): Promise<{ username?: string; groups?: readonly string[] }> {
  return (await client.create(SelfSubjectReview({ metadata: {} }))).status?.userInfo ?? {};
}

/** A client by a kubeconfig of one user and the control plane as its cluster. */
async function clientFor(
  user: KubeconfigUser,
  cluster: Partial<KubeconfigCluster> = {},
  options: KubeconfigOptions = {},
): Promise<ConnectedClient> {
  const { url, ca } = controlPlane();
  const config = await configFromKubeconfig(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority-data': base64(ca), ...cluster } }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    },
    options,
  );
  return createClient(config, { runtime: { log: silentLogger } });
}

function inline(cert: string, key: string): KubeconfigUser {
  return { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
