import { Buffer } from 'node:buffer';
import { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import type { TestEnvironment } from '@riata/testing';
import { ConfigMap, Secret, ValidatingWebhookConfiguration } from 'riata/kinds';
import { type Scheduler, silentLogger, systemClock } from 'riata/runtime';
import { WebhookServer } from 'riata/webhook';
import { expect, test } from 'vitest';
import { describeServers, uniqueName, until } from './servers.js';
import { onLoopback, reviewing } from './webhooks-play.js';

const day = 86_400_000;

/** The certificate that a server shows to those who connect now. */
function shownBy(url: string): Promise<X509Certificate> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw));
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

/** The time of the system, moved by the test: what is due at a time is due at once, and nothing waits. */
function movedClock() {
  let shiftMs = 0;
  const clock: Scheduler = {
    now: () => systemClock.now() + shiftMs,
    monotonic: () => systemClock.monotonic(),
    after: (...args) => systemClock.after(...args),
    sleep: (...args) => systemClock.sleep(...args),
    yield: () => systemClock.yield(),
  };
  const move = (ms: number) => {
    shiftMs += ms;
  };
  return { clock, move };
}

/** A server whose clock the test moves; the API server's goes on. */
async function replica(env: TestEnvironment, name: string, namespace: string, more: object = {}) {
  const { clock, move } = movedClock();
  const stop = new AbortController();
  const server = new WebhookServer({
    ...onLoopback(name, namespace),
    ...{ client: env.client, webhooks: [reviewing('guard', { kind: ConfigMap, namespace }, () => ({}))] },
    ...{ runtime: { clock, log: silentLogger }, ...more },
  });
  const ran = server.run({ signal: stop.signal });
  await Promise.race([server.listening, ran]);
  const end = async () => {
    stop.abort();
    await ran;
  };
  return { server, move, [Symbol.asyncDispose]: end };
}

describeServers('own certificates of webhooks', (server) => {
  const secretOf = async (namespace: string, name: string) => {
    const { data = {} } = await server().client.get(Secret, { namespace, name: `${name}-tls` });
    return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]));
  };
  /** Has servers look at their Secret: they do so when it changes, or half a day later. */
  const look = async (namespace: string, name: string) => {
    const body = { metadata: { labels: { looked: uniqueName('at-') } } };
    await server().client.patch(Secret, { namespace, name: `${name}-tls` }, { type: 'merge', body });
  };
  const bundleOf = async (namespace: string, name: string) => {
    const found = await server().client.find(ValidatingWebhookConfiguration, { name: `${name}.${namespace}` });
    const bundles = (found?.webhooks ?? []).map(({ clientConfig }) => clientConfig.caBundle ?? '');
    return bundles.length > 0 && new Set(bundles).size === 1 ? Buffer.from(bundles[0] ?? '', 'base64').toString() : '';
  };
  const isTrusted = (leaf: X509Certificate, bundle: string) =>
    (bundle.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []).some((pem) =>
      leaf.verify(new X509Certificate(pem).publicKey),
    );

  test('are renewed in time, and their authority with an overlap, while every state is trusted', async () => {
    const namespace = await server().namespace();
    const name = uniqueName('hooks-');
    await using one = await replica(server(), name, namespace);
    const url = one.server.url as string;
    const count = (text: string) => text.split('BEGIN').length - 1;
    await until('the bundle is written', async () => isTrusted(await shownBy(url), await bundleOf(namespace, name)));
    const first = await secretOf(namespace, name);
    const last: Record<string, string>[] = [first];
    const moved = async (ms: number, what: string, isDone: (data: Record<string, string>) => boolean) => {
      one.move(ms);
      await look(namespace, name);
      await until(what, async () => {
        const data = await secretOf(namespace, name);
        const bundle = await bundleOf(namespace, name);
        const leaf = await shownBy(url);
        // Whatever is shown, whenever: API servers trust it.
        expect(isTrusted(leaf, bundle)).toBe(true);
        const isShown = leaf.raw.equals(new X509Certificate(data['tls.crt'] ?? '').raw);
        return isDone(data) && isShown && count(bundle) === authorities(data);
      });
      last.push(await secretOf(namespace, name));
    };
    const authorities = (data: Record<string, string>) =>
      1 + (data['next-ca.crt'] === undefined ? 0 : 1) + (data['previous-ca.crt'] === undefined ? 0 : 1);
    await moved(61 * day, 'the certificate is renewed', (data) => data['tls.crt'] !== first['tls.crt']);
    expect(last.at(-1)?.['ca.crt']).toBe(first['ca.crt']);
    one.server.rotateCertificates();
    await moved(0, 'the next authority is published', (data) => data['next-ca.crt'] !== undefined);
    await moved(day + 2000, 'it signs', (data) => data['ca.crt'] === last.at(-1)?.['next-ca.crt']);
    expect(last.at(-1)?.['previous-ca.crt']).toBe(first['ca.crt']);
    await moved(day + 2000, 'the old one is forgotten', (data) => data['previous-ca.crt'] === undefined);
    expect(last.at(-1)?.['ca.crt']).not.toBe(first['ca.crt']);
  });

  test('are shared by replicas that start at once, renewed by one of them, and restored', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const name = uniqueName('hooks-');
    const [one, two] = await Promise.all([
      replica(server(), name, namespace),
      replica(server(), name, namespace, { install: false, webhooks: [] }),
    ]);
    await using _one = one;
    await using _two = two;
    const isSame = async () => {
      const { 'tls.crt': cert = '' } = await secretOf(namespace, name);
      const stored = new X509Certificate(cert).raw;
      const shown = await Promise.all([one, two].map(async ({ server: each }) => shownBy(each.url as string)));
      return shown.every(({ raw }) => raw.equals(stored));
    };
    expect(await isSame()).toBe(true);
    const before = await secretOf(namespace, name);
    for (const each of [one, two]) each.move(61 * day);
    await look(namespace, name);
    await until('it is renewed', async () => (await secretOf(namespace, name))['tls.crt'] !== before['tls.crt']);
    await until('both show it', isSame);
    // Deleted or damaged, it comes back as it was: nothing has to be trusted anew.
    const renewed = await secretOf(namespace, name);
    const key = { namespace, name: `${name}-tls` };
    await client.delete(Secret, key);
    const isBack = async () => {
      const found = await client.find(Secret, key);
      return found !== undefined && JSON.stringify(await secretOf(namespace, name)) === JSON.stringify(renewed);
    };
    await until('it is back', isBack);
    await client.patch(Secret, key, { type: 'merge', body: { data: { 'tls.crt': 'bm9uZQ==' } } });
    await until('it is good again', isBack);
    expect(await isSame()).toBe(true);
  });
});
