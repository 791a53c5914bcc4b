import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiServer, adminKubeconfig, type ContainerRuntime } from '@riata/apiserver';
import { silentLogger } from 'riata';
import { Pod } from 'riata/kinds';

/** A cluster that code finds through `KUBECONFIG`, until it is disposed of. */
export async function kubeconfigCluster(): Promise<AsyncDisposable> {
  const server = await ApiServer.start({ log: silentLogger, containers: { exec, connect, http, log } });
  const { url, ca } = await server.listen();
  const folder = mkdtempSync(join(tmpdir(), 'riata-guides-'));
  const before = process.env.KUBECONFIG;
  process.env.KUBECONFIG = join(folder, 'kubeconfig');
  writeFileSync(process.env.KUBECONFIG, adminKubeconfig({ url, ca, token: server.token }));
  return {
    async [Symbol.asyncDispose]() {
      if (before === undefined) delete process.env.KUBECONFIG;
      else process.env.KUBECONFIG = before;
      rmSync(folder, { recursive: true, force: true });
      await server.stop();
    },
  };
}

/** What containers of the guides run. */
const exec: NonNullable<ContainerRuntime['exec']> = async (_pod, [program], io) => {
  if (program === 'id') return io.stdout('root');
  let text = '';
  for await (const bytes of io.stdin) text += Buffer.from(bytes);
  return io.stdout(`${text.trim().split('\n').sort().join('\n')}\n`);
};

const http: NonNullable<ContainerRuntime['http']> = (_pod, port, { method, url }) =>
  new Response(`${method} ${port}${new URL(url).pathname}`);

/** What containers of the guides have written. */
const log: NonNullable<ContainerRuntime['log']> = async function* (_pod, { timestamps }) {
  yield Buffer.from(`${timestamps ? '2026-01-01T00:00:00.000000000Z ' : ''}ready\n`);
};

/** What listens in Pods of the guides. */
const connect: NonNullable<ContainerRuntime['connect']> = async (_pod, _port, connection) => {
  for await (const _request of connection.input) {
    return connection.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello');
  }
};

/** A Pod that is scheduled to a node. */
export function runningPod(namespace: string, name: string) {
  const spec = { nodeName: 'node-1', containers: [{ name: 'web', image: 'nginx' }] };
  return Pod({ metadata: { namespace, name }, spec });
}
