import { createHash } from 'node:crypto';
import { ApiServer } from '@riata/apiserver';
import { createClient } from 'riata';
import { Pod } from 'riata/kinds';
import { silentLogger, systemClock } from 'riata/runtime';
import { expect, test } from 'vitest';

const pod = { namespace: 'default', name: 'web' };

/** A block of bytes that repeats, so that making them costs nothing beside moving them. */
const block = Buffer.from(Array.from({ length: 32_768 }, (_, n) => (n * 2_654_435_761) >>> 13));

test('1 GB through stdout, with a slow reader, in little memory and whole', async () => {
  const blocks = Number(process.env.RIATA_STREAM_BLOCKS ?? 32_768);
  await using server = await ApiServer.start({
    ...{ log: silentLogger, admission: { disable: ['ServiceAccount'] } },
    containers: {
      exec: async (_pod, _command, io) => {
        for (let i = 0; i < blocks; i++) await io.stdout(block);
      },
    },
  });
  const { url, ca } = await server.listen();
  const tls = { ...(ca !== undefined && { ca }) };
  const credentials = {
    authorization: async () => `Bearer ${server.token}`,
    tls: async () => tls,
    refresh: async () => false,
  };
  await using client = createClient({ server: url, credentials }, { runtime: { log: silentLogger } });
  await client.create(Pod({ metadata: pod, spec: { nodeName: 'n', containers: [{ name: 'main', image: 'web' }] } }));
  await using ran = await client.exec(pod, ['dump'], { stderr: false });
  const hash = createHash('sha256');
  let [bytes, pieces, peak] = [0, 0, 0];
  const before = process.memoryUsage.rss();
  const from = systemClock.monotonic();
  for await (const piece of ran.stdout) {
    hash.update(piece);
    bytes += piece.length;
    pieces += 1;
    if (pieces % 64 === 0) {
      await systemClock.sleep(1);
      peak = Math.max(peak, process.memoryUsage.rss() - before);
    }
  }
  expect(await ran.ended).toEqual({ exitCode: 0 });
  const expected = createHash('sha256');
  for (let i = 0; i < blocks; i++) expected.update(block);
  expect([bytes, hash.digest('hex')]).toEqual([blocks * block.length, expected.digest('hex')]);
  const megabytes = Math.round(peak / 1_000_000);
  const seconds = ((systemClock.monotonic() - from) / 1000).toFixed(1);
  process.stdout.write(`1 GB in ${seconds} s, memory grew by at most ${megabytes} MB\n`);
  // Server and client are one process: both buffers, and what the collector has not freed yet.
  expect(megabytes).toBeLessThan(150);
});
