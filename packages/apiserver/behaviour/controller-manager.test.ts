import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiServer, adminKubeconfig } from '@riata/apiserver';
import { createClient } from 'riata';
import { Deployment, Pod, ReplicaSet } from 'riata/kinds';
import { memoryLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ensureBinaries } from '../../../tools/control-plane/build.mjs';
import { startKeeper } from '../../../tools/control-plane/keeper.mjs';
import { poll } from './controlled-server.js';

const namespace = 'default';

/** The real kube-controller-manager, which speaks Protobuf, on an embedded server that has no controllers of its own. */
async function start() {
  const { kubeControllerManager } = await ensureBinaries();
  if (kubeControllerManager === undefined) throw new Error('there is no kube-controller-manager in KUBEBUILDER_ASSETS');
  const log = memoryLogger();
  const server = await ApiServer.start({ controllers: false, log });
  const { url, ca } = await server.listen();
  const keeper = await startKeeper();
  const kubeconfig = join(keeper.dir, 'kubeconfig');
  await writeFile(kubeconfig, adminKubeconfig({ url, token: server.token, ca }));
  const controllers = ['deployment', 'replicaset', 'garbage-collector', 'namespace', 'serviceaccount'];
  const manager = await keeper.start({
    name: 'kube-controller-manager',
    command: kubeControllerManager,
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--controllers=${controllers.map((name) => `${name}-controller`).join(',')}`,
      ...['--leader-elect=false', '--secure-port=0', '--kube-api-qps=500', '--kube-api-burst=1000'],
    ],
    logFile: join(keeper.dir, 'kube-controller-manager.log'),
    background: true,
  });
  const stop = async () => {
    process.kill(manager.pid, 'SIGKILL');
    await keeper.end();
    await server.stop();
    expect(log.records.filter(({ level }) => level === 'error')).toEqual([]);
  };
  return { client: createClient(server.config), stop };
}

test('the real kube-controller-manager brings a Deployment to Pods', async () => {
  const { client, stop } = await start();
  try {
    const labels = { app: 'web' };
    const template = (image: string) => ({ metadata: { labels }, spec: { containers: [{ name: 'c', image }] } });
    const spec = { replicas: 3, selector: { matchLabels: labels }, template: template('web:1') };
    await client.create(Deployment({ metadata: { namespace, name: 'web' }, spec }));
    const pods = () => client.list(Pod, { namespace, labelSelector: 'app=web' });
    await poll('there are three Pods', async () => (await pods()).items.length === 3);
    const [set] = (await client.list(ReplicaSet, { namespace })).items;
    expect(set?.metadata.ownerReferences).toMatchObject([{ kind: 'Deployment', name: 'web', controller: true }]);
    for (const pod of (await pods()).items) {
      expect(pod.metadata.ownerReferences).toMatchObject([{ kind: 'ReplicaSet', name: set?.metadata.name }]);
    }
    await poll('its status tells so', async () => {
      const { status } = await client.get(Deployment, { namespace, name: 'web' });
      return status?.replicas === 3 && status.observedGeneration === 1;
    });
    await client.patch(
      Deployment,
      { namespace, name: 'web' },
      {
        type: 'merge',
        body: { spec: { template: template('web:2') } },
      },
    );
    await poll('a second ReplicaSet', async () => (await client.list(ReplicaSet, { namespace })).items.length === 2);
    await client.delete(Deployment, { namespace, name: 'web' });
    await poll('all is collected', async () => (await pods()).items.length === 0);
  } finally {
    await stop();
  }
});
