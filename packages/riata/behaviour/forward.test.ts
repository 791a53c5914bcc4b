import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { Pod, Service } from 'riata/kinds';
import { expect, test } from 'vitest';
import { rejection, until } from './servers.js';
import { describeStreams, patternBytes, patternSum } from './streams-play.js';

/** What comes back over a connection, until its end. */
async function send(port: number, ...input: (string | Uint8Array)[]): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1');
  for (const piece of input) socket.write(piece);
  socket.end();
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

describeStreams('forward', (cluster) => {
  test('several ports, and several connections at once', async () => {
    const { client, pod } = cluster();
    await using to = await client.forward(pod, {
      ports: [
        [0, 7000],
        [0, 9090],
      ],
    });
    expect(to.ports.map(({ remote }) => remote)).toEqual([7000, 9090]);
    const [first, second] = to.ports.map(({ local }) => local) as [number, number];
    expect(to.url).toBe(`http://127.0.0.1:${first}`);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => send(n % 2 === 0 ? first : second, `hello ${n}`)),
    );
    expect(answers.map(String)).toEqual(answers.map((_, n) => `hello ${n} from web:${n % 2 === 0 ? 7000 : 9090}`));
  });

  test('many bytes come back whole', async () => {
    const { client, pod } = cluster();
    await using to = await client.forward(pod, { ports: [[0, 7000]] });
    const length = 2_000_000;
    const answer = await send(to.ports[0]!.local, patternBytes(0, length));
    const end = Buffer.from(' from web:7000').length;
    expect(createHash('sha256').update(answer.subarray(0, -end)).digest('hex')).toBe(patternSum(length));
  });

  test('a port that nothing listens on is reported, and ends its connection alone', async () => {
    const { client, pod } = cluster();
    const errors: unknown[] = [];
    await using to = await client.forward(pod, {
      ports: [
        [0, 81],
        [0, 7000],
      ],
      onError: (error) => errors.push(error),
    });
    const [bad, good] = to.ports.map(({ local }) => local) as [number, number];
    await send(bad, 'x').catch(() => undefined);
    await until('the failure is reported', async () => errors.length > 0);
    expect(String(errors[0])).toContain('connection refused');
    expect(String(await send(good, 'x'))).toBe('x from web:7000');
  });

  test('a Service leads to a ready Pod, by its target port, and to another one when that is gone', async () => {
    const { client, pod, node } = cluster();
    const { namespace } = pod;
    const labels = { app: 'shop' };
    const container = { name: 'main', image: 'web', ports: [{ name: 'http', containerPort: 7000 }] };
    const spec = { nodeName: node, containers: [container], automountServiceAccountToken: false };
    const conditions = [{ type: 'Ready', status: 'True' }];
    const start = async (name: string, isReady: boolean) => {
      await client.create(Pod({ metadata: { namespace, name, labels }, spec }));
      if (!isReady) return;
      await client.status.patch(Pod, { namespace, name }, { type: 'merge', body: { status: { conditions } } });
    };
    await client.create(
      Service({
        metadata: { namespace, name: 'shop' },
        spec: { selector: labels, ports: [{ port: 8080, targetPort: 'http' }] },
      }),
    );
    const target = { kind: Service, namespace, name: 'shop' };
    await start('shop-0', false);
    const none = await rejection(client.forward(target, { ports: [[0, 8080]] }));
    expect(none.message).toBe('forward to Service shop: no Pod is ready; 1 Pod matches its selector');
    await start('shop-1', true);
    await expect(client.forward(target, { ports: [[0, 1]] })).rejects.toThrow('it has no port 1; its ports: 8080');
    await using to = await client.forward(target, { ports: [[0, 8080]] });
    expect(String(await send(to.ports[0]!.local, 'hi'))).toBe('hi from shop-1:7000');
    await client.delete(Pod, { namespace, name: 'shop-1' }, { gracePeriodSeconds: 0 });
    await start('shop-2', true);
    const moved = await until('the next connection finds the other Pod', async () => {
      const answer = String(await send(to.ports[0]!.local, 'hi').catch(() => ''));
      return answer.includes('shop-2') && answer;
    });
    expect(moved).toBe('hi from shop-2:7000');
  });

  test('stops with its signal, and refuses a Pod that is not there', async () => {
    const { client, pod } = cluster();
    const stop = new AbortController();
    const to = await client.forward(pod, { ports: [[0, 7000]], signal: stop.signal });
    stop.abort();
    await to.close();
    await expect(send(to.ports[0]!.local, 'x')).rejects.toThrow('ECONNREFUSED');
    await expect(client.forward({ ...pod, name: 'none' }, { ports: [1] })).rejects.toThrow('not found');
  });
});
