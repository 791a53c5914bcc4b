// stream-server.mjs <folder>: an API server over HTTPS with one Pod, in which `download N` writes N bytes, `upload` reads and
// counts them, and port 1 sends as many bytes as the first line says. Writes a kubeconfig, prints its path, and runs until it is
// killed.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiServer, adminKubeconfig } from '@riata/apiserver';
import { createClient } from 'riata/client';
import { Pod } from 'riata/kinds';
import { silentLogger } from 'riata/runtime';

const [folder] = process.argv.slice(2);
const block = Buffer.alloc(32 * 1024);

async function send(count, write) {
  for (let left = count; left > 0; left -= block.length) {
    await write(left < block.length ? block.subarray(0, left) : block);
  }
}

const containers = {
  async exec(_pod, [program, count], io) {
    if (program === 'download') return send(Number(count), io.stdout);
    let bytes = 0;
    for await (const piece of io.stdin) bytes += piece.length;
    return io.stdout(String(bytes));
  },
  async connect(_pod, _port, { input, write }) {
    let line = '';
    for await (const piece of input) {
      line += Buffer.from(piece);
      if (line.endsWith('\n')) return send(Number(line), write);
    }
  },
};

const admission = { disable: ['ServiceAccount'] };
const server = await ApiServer.start({ log: silentLogger, containers, admission });
const { url, ca } = await server.listen();
const client = createClient(server.config, { runtime: { log: silentLogger } });
const spec = { nodeName: 'node-1', containers: [{ name: 'main', image: 'web' }] };
await client.create(Pod({ metadata: { namespace: 'default', name: 'web' }, spec }));
// Clients of Go look at the phase before they forward.
await client.status.patch(
  Pod,
  { namespace: 'default', name: 'web' },
  { type: 'merge', body: { status: { phase: 'Running' } } },
);
const file = join(folder, 'streams.kubeconfig');
writeFileSync(file, adminKubeconfig({ url, ca, token: server.token }));
process.stdout.write(`${file}\n`);
