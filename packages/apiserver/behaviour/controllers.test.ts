import { createClient } from 'riata';
import { ConfigMap, Namespace } from 'riata/kinds';
import { configFromKubeconfig } from 'riata/rest';
import { silentLogger, systemClock } from 'riata/runtime';
import { afterAll, beforeAll, describe } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { type ControlledServer, poll } from './controlled-server.js';
import { definitionPlay } from './definition-play.js';
import { garbagePlay } from './garbage-play.js';
import { namespacePlay } from './namespace-play.js';

/** What the embedded server's controllers do is what these do. */
describe('kube-controller-manager', () => {
  let server: (ControlledServer & AsyncDisposable) | undefined;
  beforeAll(async () => {
    server = await realServer();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());
  describe.concurrent('garbage', () => garbagePlay(() => server!));
  describe.concurrent('namespaces', () => namespacePlay(() => server!));
  describe.concurrent('definitions', () => definitionPlay(() => server!));
});

const controllers = ['namespace', 'garbagecollector', 'serviceaccount', 'root-ca-certificate-publisher-controller'];

async function realServer(): Promise<ControlledServer & AsyncDisposable> {
  const controlPlane = controlPlaneFromEnv();
  await controlPlane.startControllerManager({ controllers });
  const client = createClient(await configFromKubeconfig(controlPlane.kubeconfig), { runtime: { log: silentLogger } });
  const newNamespace = async () => (await client.create(Namespace({ metadata: { generateName: 't-' } }))).metadata.name;
  return {
    client,
    newNamespace,
    until: poll,
    /** The controllers cannot be queried: the order of their writes shows it. */
    async calm() {
      const namespace = await newNamespace();
      const uid = '00000000-0000-4000-8000-000000000001';
      const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid }];
      const name = 'sentinel';
      await client.create(ConfigMap({ metadata: { namespace, name, ownerReferences } }));
      const isGone = async () => (await client.find(ConfigMap, { namespace, name })) === undefined;
      await poll('the sentinel is collected', isGone);
      await systemClock.sleep(500);
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await controlPlane.stopControllerManager();
    },
  };
}
