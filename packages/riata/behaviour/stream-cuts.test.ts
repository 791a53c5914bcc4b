import { createHash } from 'node:crypto';
import { ApiServer } from '@riata/apiserver';
import { createClient } from 'riata';
import { Pod } from 'riata/kinds';
import { type HttpTransport, httpTransport, nodeTransport } from 'riata/rest';
import { seededRandom, silentLogger, systemRandom } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { CuttingProxy } from './cutting-proxy.js';
import { containers, patternSum } from './streams-play.js';

/** More in `npm run soak`. */
const rounds = Number(process.env.RIATA_CUT_ROUNDS ?? 50);
const length = 150_000;

describe.each([
  ['httpTransport', httpTransport],
  ['nodeTransport', nodeTransport],
] as const)('a stream that is cut (%s)', (_, transportFor) => {
  test(`at random offsets, ${rounds} times, ends in an error or is whole`, async () => {
    await using server = await ApiServer.start({
      ...{ log: silentLogger, containers, admission: { disable: ['ServiceAccount'] } },
    });
    await using proxy = await CuttingProxy.start((await server.listen({ tls: false })).url);
    const credentials = {
      authorization: async () => `Bearer ${server.token}`,
      tls: async () => ({}),
      refresh: async () => false,
    };
    const config = { server: proxy.url, credentials };
    await using transport: HttpTransport = transportFor(config);
    await using client = createClient(config, { transport, runtime: { log: silentLogger } });
    const pod = { namespace: 'default', name: 'web' };
    const containersOfPod = [{ name: 'main', image: 'web' }];
    await client.create(Pod({ metadata: pod, spec: { nodeName: 'node-1', containers: containersOfPod } }));
    const sum = patternSum(length);
    const run = async () => {
      await using ran = await client.exec(pod, ['big', String(length)], { stderr: false });
      const hash = createHash('sha256');
      for await (const bytes of ran.stdout) hash.update(bytes);
      return { ...(await ran.ended), sum: hash.digest('hex') };
    };
    expect(await run()).toEqual({ exitCode: 0, sum });
    const whole = proxy.passed;
    const seed = systemRandom.uuid();
    const random = seededRandom(seed);
    let failures = 0;
    for (let round = 0; round < rounds; round++) {
      // Around the end, where the status and the close frame are, a mistake is likelier.
      proxy.limit = random.next() < 0.5 ? random.int(1, whole) : whole - random.int(0, 200);
      proxy.resets = random.next() < 0.5;
      const outcome = await run().catch((error: unknown) => error);
      if (outcome instanceof Error) failures += 1;
      else
        expect(outcome, `seed ${seed}, round ${round}, cut at ${proxy.limit} of ${whole}`).toEqual({
          exitCode: 0,
          sum,
        });
    }
    expect(failures).toBeGreaterThan(rounds / 3);
  });
});
