import { createClient, silentLogger } from 'riata';
import { Deployment, Namespace } from 'riata/kinds';
import { configFromKubeconfig } from 'riata/rest';
import { expect, test } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { eventually } from './cluster.js';

const isReal = process.env.RIATA_CONTROL_PLANE !== undefined;

test.runIf(isReal)('a kube-controller-manager with other controllers, left by another file, is replaced', async () => {
  const controlPlane = controlPlaneFromEnv();
  const config = await configFromKubeconfig(controlPlane.kubeconfig);
  await using client = createClient(config, { runtime: { log: silentLogger } });
  const namespace = (await client.create(Namespace({ metadata: { generateName: 's-' } }))).metadata.name;
  const at = { namespace, name: 'web' };
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
  await client.create(Deployment({ metadata: at, spec: { replicas: 0, selector: { matchLabels: labels }, template } }));
  try {
    await controlPlane.startControllerManager({ controllers: ['serviceaccount'] });
    await controlPlane.startControllerManager({ controllers: ['serviceaccount', 'deployment'] });
    await eventually(async () => expect((await client.get(Deployment, at)).status.observedGeneration).toBe(1));
  } finally {
    await controlPlane.stopControllerManager();
  }
});
