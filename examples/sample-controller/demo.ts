// Runs the controller on an embedded server. In a terminal it keeps running until Ctrl-C, for you to play with.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiServer, adminKubeconfig } from '@riata/apiserver';
import { Manager, signalHandler } from 'riata';
import { play } from './story.js';

using signals = signalHandler();
await using server = await ApiServer.start();
await using manager = await Manager.create({ config: server.config });
const stop = new AbortController();
signals.signal.addEventListener('abort', () => stop.abort());
const running = manager.run({ signal: stop.signal });
await play(manager, console.log);

if (process.stdout.isTTY) {
  const { url, ca } = await server.listen();
  const folder = await mkdtemp(join(tmpdir(), 'riata-demo-'));
  const path = join(folder, 'kubeconfig');
  await writeFile(path, adminKubeconfig({ url, ca, token: server.token }), { mode: 0o600 });
  console.log(`\nYour turn, in another terminal; Ctrl-C here stops everything:\n`);
  console.log(`  export KUBECONFIG=${path}\n  kubectl apply --validate=false -f examples/sample-controller/foo.yaml`);
  console.log('  kubectl get foos,deployments');
  await running;
  await rm(folder, { recursive: true });
} else {
  stop.abort();
  await running;
}
