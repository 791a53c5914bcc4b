import { Buffer } from 'node:buffer';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createClient } from 'riata/client';
import { ConfigMap, Namespace, Secret } from 'riata/kinds';
import { configFromKubeconfig } from 'riata/rest';
import { memoryMetrics, silentLogger, systemClock } from 'riata/runtime';
import { WebhookServer } from 'riata/webhook';
import { afterAll, expect, test } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { reviewing } from '../behaviour/webhooks-play.js';

const rotations = 20;
const createsPerSecond = 50;

const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

/** A Service stands between API servers and replicas: each connection goes to the next one. */
async function balancer(ports: readonly number[]) {
  const sockets = new Set<Socket>();
  const taken = ports.map(() => 0);
  let next = 0;
  const server = createServer((socket) => {
    const at = next++ % ports.length;
    taken[at] = (taken[at] ?? 0) + 1;
    const onward = connect(ports[at] as number, '127.0.0.1');
    for (const each of [socket, onward]) {
      sockets.add(each);
      each.on('error', () => {});
      each.once('close', () => {
        sockets.delete(each);
        socket.destroy();
        onward.destroy();
      });
    }
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, taken };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('no guarded request fails while authority and certificate of three replicas are rotated', async () => {
  const config = await configFromKubeconfig(controlPlaneFromEnv().kubeconfig);
  const runtime = { log: silentLogger };
  await using client = createClient(config, { runtime });
  const { metadata } = await client.create(Namespace({ metadata: { generateName: 'rotation-' } }));
  const namespace = metadata.name;
  const ports = [await freePort(), await freePort(), await freePort()];
  const { port, taken } = await balancer(ports);
  const metrics = ports.map(() => memoryMetrics());
  const stop = new AbortController();
  const servers = ports.map((own, at) => {
    const connected = createClient(config, { runtime });
    ends.push(() => connected.close());
    const guard = reviewing('guard', { kind: ConfigMap, namespace }, () => ({}));
    const server = new WebhookServer({
      ...{ name: 'rotation', namespace, port: own, url: `https://127.0.0.1:${port}`, keepOnStop: true },
      ...{ webhooks: [guard], client: connected, certificates: { overlap: '250ms' } },
      runtime: { ...runtime, metrics: metrics[at] },
    });
    return { server, ran: server.run({ signal: stop.signal }) };
  });
  await Promise.all(servers.map(({ server }) => server.listening));
  const until = async (probe: () => boolean | Promise<boolean>) => {
    while (!(await probe())) await systemClock.sleep(50);
  };
  const isReady = (server: WebhookServer) => {
    try {
      server.check();
      return true;
    } catch {
      return false;
    }
  };
  await until(() => servers.every(({ server }) => isReady(server)));

  let isOver = false;
  const failures: string[] = [];
  const writes: Promise<unknown>[] = [];
  const startedAt = systemClock.monotonic();
  const load = (async () => {
    for (let made = 0; !isOver; made += 1) {
      const dueAt = startedAt + (made * 1000) / createsPerSecond;
      const waitMs = dueAt - systemClock.monotonic();
      if (waitMs > 0) await systemClock.sleep(waitMs);
      // Once each: a retry would hide a failure.
      const write = client.create(ConfigMap({ metadata: { namespace, name: `c-${made}` } }), { maxRetries: 0 });
      writes.push(write.catch((error: unknown) => failures.push((error as Error).message)));
    }
  })();

  const seen = new Set<string>();
  const authority = async () => {
    const { data = {} } = await client.get(Secret, { namespace, name: 'rotation-tls' });
    const isSettled = data['next-ca.crt'] === undefined && data['previous-ca.crt'] === undefined;
    return { cert: Buffer.from(data['ca.crt'] ?? '', 'base64').toString(), isSettled };
  };
  for (let done = 0; done < rotations; done += 1) {
    const before = (await authority()).cert;
    seen.add(before);
    // Any replica may be told.
    servers[done % servers.length]?.server.rotateCertificates();
    await until(async () => {
      const { cert, isSettled } = await authority();
      return isSettled && cert !== before;
    });
  }
  const rotatedMs = systemClock.monotonic() - startedAt;
  isOver = true;
  await load;
  await Promise.all(writes);
  stop.abort();
  await Promise.all(servers.map(({ ran }) => ran));

  const guarded = metrics.map((each) =>
    each.value('controller_runtime_webhook_requests_total', { webhook: '/guard', code: '200' }),
  );
  process.stderr.write(
    `${writes.length} creates and ${rotations} rotations in ${(rotatedMs / 1000).toFixed(1)} s; reviews by replica ` +
      `${guarded.join(', ')}; connections by replica ${taken.join(', ')}; failures ${failures.length}\n`,
  );
  expect(failures).toEqual([]);
  expect(seen.size).toBe(rotations);
  expect(guarded.reduce((sum: number, count) => sum + (count ?? 0), 0)).toBeGreaterThanOrEqual(writes.length);
  const left = await client.list(ConfigMap, { namespace });
  expect(left.items.filter((item) => item.metadata.name.startsWith('c-'))).toHaveLength(writes.length);
});
