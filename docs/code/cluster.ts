import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiServer, adminKubeconfig } from '@riata/apiserver';
import { silentLogger } from 'riata';
import { Pod } from 'riata/kinds';

/** A cluster that code finds through `KUBECONFIG`, until it is disposed of. */
export async function kubeconfigCluster(): Promise<AsyncDisposable> {
  const server = await ApiServer.start({ log: silentLogger });
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

/** A Pod that is scheduled to a node. */
export function runningPod(namespace: string, name: string) {
  const spec = { nodeName: 'node-1', containers: [{ name: 'web', image: 'nginx' }] };
  return Pod({ metadata: { namespace, name }, spec });
}
