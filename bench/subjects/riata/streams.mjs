// streams.mjs <kubeconfig> download|upload|forward <bytes> <warm-up bytes>: moves bytes through an exec or a port-forward.
import { readFileSync } from 'node:fs';
import { createClient } from 'riata/client';
import { configFromKubeconfig } from 'riata/rest';
import { silentLogger } from 'riata/runtime';
import { moveBytes, pull, zeros } from '../move-bytes.mjs';

const [kubeconfig, direction, count, warmUp] = process.argv.slice(2);
const pod = { namespace: 'default', name: 'web' };
const client = createClient(await configFromKubeconfig(readFileSync(kubeconfig)), { runtime: { log: silentLogger } });

const moves = {
  async download(bytes) {
    await using ran = await client.exec(pod, ['download', String(bytes)], { stderr: false });
    let total = 0;
    for await (const piece of ran.stdout) total += piece.length;
    await ran.ended;
    return total;
  },
  upload: async (bytes) => Number(await client.exec(pod, ['upload'], { stdin: zeros(bytes), stderr: false }).text()),
};
if (direction === 'forward') {
  const to = await client.forward(pod, { ports: [[0, 1]] });
  moves.forward = (bytes) => pull(to.ports[0].local, bytes);
}
await moveBytes(moves[direction], Number(count), Number(warmUp));
