import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { ApiServer } from '@riata/apiserver';
import { type Client, createClient } from 'riata';
import { Pod } from 'riata/kinds';
import { type HttpTransport, httpTransport, nodeTransport } from 'riata/rest';
import { seededRandom, silentLogger, systemRandom } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { CuttingProxy } from './cutting-proxy.js';
import { containers, patternBytes, patternSum } from './streams-play.js';

/** More in `npm run soak`. */
const rounds = Number(process.env.RIATA_CUT_ROUNDS ?? 50);
const length = 150_000;

const pod = { namespace: 'default', name: 'web' };

/** A server with one Pod, and a client whose connections can be cut. */
async function startCluster(transportFor: typeof httpTransport) {
  const server = await ApiServer.start({
    ...{ log: silentLogger, containers, admission: { disable: ['ServiceAccount'] } },
  });
  const proxy = await CuttingProxy.start((await server.listen({ tls: false })).url);
  const credentials = {
    authorization: async () => `Bearer ${server.token}`,
    tls: async () => ({}),
    refresh: async () => false,
  };
  const config = { server: proxy.url, credentials };
  const transport: HttpTransport = transportFor(config);
  const client = createClient(config, { transport, runtime: { log: silentLogger } });
  const containersOfPod = [{ name: 'main', image: 'web' }];
  await client.create(Pod({ metadata: pod, spec: { nodeName: 'node-1', containers: containersOfPod } }));
  const close = async () => {
    for (const part of [client, transport, proxy, server]) await part[Symbol.asyncDispose]();
  };
  return { client, proxy, [Symbol.asyncDispose]: close };
}

/** Runs something again and again over connections that are cut: each time it must fail, or give what it gives uncut. */
async function cutAtRandom(
  transportFor: typeof httpTransport,
  run: (client: Client) => Promise<unknown>,
  whole: unknown,
): Promise<void> {
  await using cluster = await startCluster(transportFor);
  const { client, proxy } = cluster;
  expect(await run(client)).toEqual(whole);
  const { passed } = proxy;
  const seed = systemRandom.uuid();
  const random = seededRandom(seed);
  let failures = 0;
  for (let round = 0; round < rounds; round++) {
    // Around the end, where the status and the close frame are, a mistake is likelier.
    proxy.limit = random.next() < 0.5 ? random.int(1, passed) : passed - random.int(0, 200);
    proxy.resets = random.next() < 0.5;
    const outcome = await run(client).catch((error: unknown) => error);
    if (outcome instanceof Error) failures += 1;
    else expect(outcome, `seed ${seed}, round ${round}, cut at ${proxy.limit} of ${passed}`).toEqual(whole);
  }
  expect(failures).toBeGreaterThan(rounds / 3);
}

describe.each([
  ['httpTransport', httpTransport],
  ['nodeTransport', nodeTransport],
] as const)('a stream that is cut (%s)', (_, transportFor) => {
  test(`at random offsets, ${rounds} times, ends in an error or is whole`, async () => {
    const run = async (client: Client) => {
      await using ran = await client.exec(pod, ['big', String(length)], { stderr: false });
      const hash = createHash('sha256');
      for await (const bytes of ran.stdout) hash.update(bytes);
      return { ...(await ran.ended), sum: hash.digest('hex') };
    };
    await cutAtRandom(transportFor, run, { exitCode: 0, sum: patternSum(length) });
  });

  test(`a forwarded connection, ${rounds} times, fails or is whole`, async () => {
    const end = ' from web:7000';
    const run = async (client: Client) => {
      const errors: unknown[] = [];
      await using to = await client.forward(pod, { ports: [[0, 7000]], onError: (error) => errors.push(error) });
      const socket = connect(to.ports[0]!.local, '127.0.0.1');
      socket.end(patternBytes(0, length));
      const pieces: Buffer[] = [];
      for await (const piece of socket) pieces.push(piece as Buffer);
      // A reset that arrives together with data is an end for libuv, so that this side may not see it.
      if (errors.length > 0) throw errors[0];
      const bytes = Buffer.concat(pieces);
      const sum = createHash('sha256').update(bytes.subarray(0, length)).digest('hex');
      return { sum, end: String(bytes.subarray(length)) };
    };
    await cutAtRandom(transportFor, run, { sum: patternSum(length), end });
  });

  test('a forwarded connection whose tunnel is lost is reset, and the next one works', async () => {
    await using cluster = await startCluster(transportFor);
    await using to = await cluster.client.forward(pod, { ports: [[0, 7000]] });
    const port = to.ports[0]!.local;
    const socket = connect(port, '127.0.0.1');
    socket.write('half');
    await once(socket, 'data');
    const failed = once(socket, 'error');
    cluster.proxy.cutAll();
    expect(await failed).toMatchObject([{ code: 'ECONNRESET' }]);
    const next = connect(port, '127.0.0.1');
    next.end('again');
    expect(await text(next)).toBe('again from web:7000');
  });
});
