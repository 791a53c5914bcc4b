import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { ConfigMap, CustomResourceDefinition, ValidatingWebhookConfiguration } from 'riata/kinds';
import { Manager } from 'riata/manager';
import { collectRbac, rbacManifests } from 'riata/patterns';
import { memoryLogger, silentLogger } from 'riata/runtime';
import { addWebhook, type WebhookDefinition, WebhookServer, webhookManifests, webhookRights } from 'riata/webhook';
import { expect, test } from 'vitest';
import { installKind } from './custom-kind.js';
import { describeServers, uniqueName, until } from './servers.js';
import { onLoopback, ready, reviewing } from './webhooks-play.js';

/** Stands for a Service: each connection goes to one of these ports, which come and go. */
async function balancer(ports: Set<number>) {
  const sockets = new Set<Socket>();
  let next = 0;
  const server = createServer((socket) => {
    const open = [...ports];
    const onward = connect(open[next++ % open.length] ?? 0, '127.0.0.1');
    for (const each of [socket, onward]) {
      sockets.add(each);
      each.on('error', () => {});
      each.once('close', () => sockets.delete(each));
    }
    socket.pipe(onward).pipe(socket);
    onward.once('close', () => socket.destroy());
    socket.once('close', () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, [Symbol.dispose]: close };
}

describeServers('replicas with webhooks', (server) => {
  test('one that stops fails no request, as others are asked meanwhile', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const ports = new Set<number>();
    using between = await balancer(ports);
    const name = uniqueName('hooks-');
    const calls = [0, 0];
    const options = { ...onLoopback(name, namespace), url: `https://127.0.0.1:${between.port}`, keepOnStop: true };
    const start = async (at: number) => {
      const stop = new AbortController();
      const guard = reviewing('guard', { kind: ConfigMap, namespace }, () => {
        calls[at] = (calls[at] ?? 0) + 1;
        return {};
      });
      const one = new WebhookServer({
        ...options,
        client,
        webhooks: [guard],
        drainDelay: '1s',
        runtime: { log: silentLogger },
      });
      const ran = one.run({ signal: stop.signal });
      await Promise.race([one.listening, ran]);
      return { one, stop, ran, port: Number(new URL(one.url as string).port) };
    };
    const [first, second] = [await start(0), await start(1)];
    // API servers keep their connections: all of them to this one.
    ports.add(second.port);
    await until('it is reached', async () => {
      try {
        first.one.check();
        return true;
      } catch {
        return false;
      }
    });
    let isOver = false;
    using _load = {
      [Symbol.dispose]: () => {
        isOver = true;
      },
    };
    const failures: string[] = [];
    let made = 0;
    const load = Promise.all(
      [0, 1, 2, 3].map(async (lane) => {
        for (let at = 0; !isOver; at += 1) {
          const object = ConfigMap({ metadata: { namespace, name: `c-${lane}-${at}` } });
          await client.create(object, { maxRetries: 0 }).catch((error: Error) => failures.push(error.message));
          made += 1;
        }
      }),
    );
    await until('it is asked', async () => made > 20 && (calls[1] ?? 0) > 20);
    // The endpoints of a Service change at the time when a Pod is told to stop.
    ports.delete(second.port);
    ports.add(first.port);
    second.stop.abort();
    await second.ran;
    await until('the other one goes on', async () => (calls[0] ?? 0) > 20);
    isOver = true;
    await load;
    first.stop.abort();
    await first.ran;
    expect(failures).toEqual([]);
    await client.delete(ValidatingWebhookConfiguration, { name: `${name}.${namespace}` });
  });

  test('an older version does not remove the entries of a newer one while both run', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const name = uniqueName('hooks-');
    const options = { ...onLoopback(name, namespace), url: 'https://127.0.0.1:1', keepOnStop: true };
    const key = { name: `${name}.${namespace}` };
    const definition = (word: string) => reviewing(word, { kind: ConfigMap, namespace }, () => ({}));
    const entries = async () => {
      const found = await client.find(ValidatingWebhookConfiguration, key);
      return (found?.webhooks ?? []).map((entry) => entry.name.split('.')[0]).sort();
    };
    await using old = await server().startManager({ webhooks: options, run: [definition('old')] });
    await until('the old ones are there', async () => (await entries()).includes('old'));
    await using _ = await server().startManager({ webhooks: options, run: [definition('new')] });
    await until('the new ones are there', async () => (await entries()).includes('new'));
    expect(await entries()).toEqual(['new', 'probe']);
    // The old one sees the change, and keeps the bundle alone.
    const { webhooks = [] } = await client.get(ValidatingWebhookConfiguration, key);
    const emptied = webhooks.map((entry) => ({ ...entry, clientConfig: { url: entry.clientConfig.url } }));
    await client.patch(ValidatingWebhookConfiguration, key, { type: 'merge', body: { webhooks: emptied } } as never);
    await until('the bundle is restored', async () => {
      const found = await client.get(ValidatingWebhookConfiguration, key);
      return found.webhooks?.every(({ clientConfig }) => (clientConfig.caBundle ?? '') !== '');
    });
    expect(await entries()).toEqual(['new', 'probe']);
    expect(old.exit).toBeUndefined();
    await client.delete(ValidatingWebhookConfiguration, key);
  });

  test('the rights of webhookRights suffice, for configurations and conversions', async () => {
    const { client, config } = server();
    const namespace = await server().namespace();
    const Widget = await installKind(server());
    const name = uniqueName('rights-');
    const guard = reviewing('guard', { kind: ConfigMap, namespace }, () => ({ message: 'never' }));
    const converts: WebhookDefinition = {
      name: 'converts',
      readKinds: [ConfigMap],
      targets: [{ type: 'conversion', path: '/convert', kind: Widget }],
      bind: () => [{ path: '/convert', answer: async () => ({ status: 500, body: '' }) }],
      addTo: (manager) => addWebhook(manager, converts),
    };
    const rights = webhookRights([guard, converts], { name, namespace });
    for (const object of rbacManifests(collectRbac([rights]), { name, namespace, namespaces: [namespace] })) {
      await client.create(object as never);
    }
    const impersonate = { user: `system:serviceaccount:${namespace}:${name}`, groups: ['system:authenticated'] };
    const log = memoryLogger('warn');
    await using manager = await Manager.create({
      ...{ config: { ...config, impersonate }, cache: { namespaces: [namespace] }, runtime: { log } },
      ...{ health: { host: '127.0.0.1', port: 0 }, webhooks: onLoopback(name, namespace) },
      // It would warn on a busy machine.
      loopMonitor: false,
    });
    const me = manager.connection;
    const crdKey = { name: `${Widget.plural}.${Widget.group}` };
    await until('the rights are in force', async () => {
      const asked = [
        me.list(ConfigMap, { namespace }),
        me.find(ValidatingWebhookConfiguration, { name: `${name}.${namespace}` }),
        me.find(CustomResourceDefinition, crdKey),
      ];
      return (await Promise.allSettled(asked)).every(({ status }) => status === 'fulfilled');
    });
    manager.add(guard);
    manager.add(converts);
    const stop = new AbortController();
    const ended = manager.run({ signal: stop.signal });
    await ready(() => manager.urls['health probes']);
    const crd = await client.get(CustomResourceDefinition, crdKey);
    expect(crd.spec.conversion).toMatchObject({
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { caBundle: expect.stringMatching(/./) } },
    });
    stop.abort();
    expect(await ended).toMatchObject({ reason: 'stopped' });
    expect(log.records.map(({ message, fields }) => ({ message, fields }))).toEqual([]);
    expect(await client.find(ValidatingWebhookConfiguration, { name: `${name}.${namespace}` })).toBeUndefined();
  });

  test('configurations from manifests get their bundle, and nothing else is written', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const name = uniqueName('hooks-');
    const guard = reviewing('guard', { kind: ConfigMap, namespace }, () => ({ message: 'never' }));
    const objects = webhookManifests([guard], { name, namespace, guardOwnNamespace: true });
    expect(objects.map(({ kind }) => kind)).toEqual(['Service', 'ValidatingWebhookConfiguration']);
    for (const object of objects) await client.create(object as never);
    const key = { name: `${name}.${namespace}` };
    const stored = await client.get(ValidatingWebhookConfiguration, key);
    const webhooks = { name, namespace, port: 0, service: {}, install: false, drainDelay: '0s' } as const;
    await using _ = await server().startManager({ webhooks, run: [guard] });
    await until('the bundle is there', async () => {
      const found = await client.get(ValidatingWebhookConfiguration, key);
      const bundled = (found.webhooks ?? []).map(({ clientConfig: { caBundle, ...clientConfig }, ...rest }) => ({
        ...rest,
        clientConfig,
        hasBundle: (caBundle ?? '') !== '',
      }));
      expect(bundled.map(({ hasBundle: _has, ...rest }) => rest)).toEqual(stored.webhooks);
      return bundled.every(({ hasBundle }) => hasBundle);
    });
    await client.delete(ValidatingWebhookConfiguration, key);
  });

  test('a webhook never guards its own namespace unless told so', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const guard = reviewing('guard', { kind: ConfigMap, namespace }, () => ({ message: 'never' }));
    for (const guardOwnNamespace of [false, true]) {
      const name = uniqueName('hooks-');
      const [, configuration] = webhookManifests([guard], { name, namespace, guardOwnNamespace });
      const { webhooks = [] } = configuration as ValidatingWebhookConfiguration;
      const [entry] = webhooks.filter((each) => each.name.startsWith('guard'));
      const own = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [namespace] };
      expect(entry?.namespaceSelector?.matchExpressions).toEqual(guardOwnNamespace ? undefined : [own]);
      if (entry === undefined) throw new Error('no entry');
      // Nothing listens there: what it guards fails.
      const dead = { ...entry, clientConfig: { url: 'https://127.0.0.1:1/' } };
      await client.create(ValidatingWebhookConfiguration({ metadata: { name }, webhooks: [dead] }));
      const create = () => client.create(ConfigMap({ metadata: { namespace, name: uniqueName('c-') } }));
      const isGuarded = () =>
        create().then(
          () => false,
          () => true,
        );
      if (guardOwnNamespace) await until('it is guarded', isGuarded);
      else expect(await isGuarded()).toBe(false);
      await client.delete(ValidatingWebhookConfiguration, { name });
      await until('it is free', async () => !(await isGuarded()));
    }
  });

  test('is not ready while its webhooks cannot be reached, and says why', async () => {
    const namespace = await server().namespace();
    const name = uniqueName('hooks-');
    const guard = reviewing('guard', { kind: ConfigMap, namespace }, () => ({}));
    const webhooks = { ...onLoopback(name, namespace), url: 'https://127.0.0.1:1' };
    await using started = await server().startManager({
      webhooks,
      run: [guard],
      health: { host: '127.0.0.1', port: 0 },
    });
    const body = await until('it says why', async () => {
      const url = started.manager.urls['health probes'];
      const response = url === undefined ? undefined : await fetch(`${url}/readyz?verbose`);
      const text = (await response?.text()) ?? '';
      return text.includes('the API server does not reach the webhooks') && { status: response?.status, text };
    });
    expect(body.status).toBe(503);
    expect(body.text).toMatch(/failed calling webhook "probe\.webhooks\.riata\.dev".*connection refused/);
  });
});
