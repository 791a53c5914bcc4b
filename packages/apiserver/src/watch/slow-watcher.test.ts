import '../resource/kind-parts.fixture.js';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { KubeObject } from 'riata/object';
import { silentLogger, systemClock, VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ApiServer } from '../api-server.js';
import type { TransportFlow } from '../http/in-process/transport.js';
import { builtInResources } from '../resource/built-in/built-in-resource.js';
import { MemoryStorage } from '../storage/memory-storage.js';

const log = silentLogger;
const path = '/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=';
const table = builtInResources().find((r) => r.plural === 'configmaps')?.table ?? '';
const filling = 'x'.repeat(4_000);
/** More than a watcher may be behind, and than fits into what buffers there are on the way. */
const writes = 16_000;

/** Changes one object, again and again, without the way through the verbs. */
async function change(storage: MemoryStorage, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    storage.put(table, 'default/a', (revision) => {
      const metadata = { name: 'a', namespace: 'default', uid: 'a', resourceVersion: String(revision) };
      return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { filling } } as unknown as KubeObject;
    });
    if (i % 1_000 === 0) await systemClock.yield();
  }
}

test('a client in this process that does not read is ended, and the rest is as it was', async () => {
  const clock = new VirtualClock();
  const storage = new MemoryStorage({ clock });
  await using server = await ApiServer.start({ clock, log, storage });
  const seen = { bytes: 0, ended: false };
  let flow: TransportFlow | undefined;
  const { transport } = server.connect();
  const headers = { authorization: `Bearer ${server.token}` };
  transport.dispatch(
    { method: 'GET', path: path + storage.revision, headers },
    {
      onHeaders: (_status, _headers, given) => {
        flow = given;
        given.pause();
      },
      onData: (chunk) => {
        seen.bytes += chunk.length;
      },
      onEnd: () => {
        seen.ended = true;
      },
      onError: () => {},
    },
  );
  await clock.settle();
  await change(storage, writes);
  await clock.settle();
  expect([seen.bytes, transport.running]).toEqual([0, 1]);
  flow?.resume();
  await clock.settle();
  // What was on its way, and then the end: no more than a buffer's worth of what has happened.
  expect(seen.ended).toBe(true);
  expect(seen.bytes).toBeGreaterThan(0);
  expect(seen.bytes).toBeLessThan(1_000_000);
  expect(transport.running).toBe(0);
});

test('a client at the end of a socket that does not read is ended', async () => {
  const storage = new MemoryStorage({ clock: systemClock });
  await using server = await ApiServer.start({ log, storage });
  const { url } = await server.listen({ tls: false });
  const { hostname, port } = new URL(url);
  const socket: Socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(
    `GET ${path}${storage.revision} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${server.token}\r\nconnection: close\r\n\r\n`,
  );
  await once(socket, 'readable');
  await change(storage, writes);
  let events = 0;
  for await (const chunk of socket) events += String(chunk).split('"type":"').length - 1;
  expect(events).toBeGreaterThan(0);
  expect(events).toBeLessThan(writes - 10_000);
});
