import { dirname } from 'node:path';
import { TestEnvironment } from '@riata/testing';
import { ConfigMap, CustomResourceDefinition } from 'riata/kinds';
import { isAlreadyExists, isConnectionReset } from 'riata/rest';
import { expect, test } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { Widget, widgets } from '../src/widget.fixture.js';

/** On a cluster that is there, and on a control plane that is started for the test. */
test.each([
  ['a kubeconfig', () => controlPlaneFromEnv().kubeconfigPath],
  ['a folder of programs', () => dirname(controlPlaneFromEnv().kubectlPath)],
])('the real server, by %s', async (_, server) => {
  const env = await TestEnvironment.start({ kinds: [Widget], server: server() });
  try {
    expect([env.isVirtual, env.server]).toEqual([false, undefined]);
    const namespace = await env.namespace();
    await env.run(widgets);
    await env.client.create(Widget({ metadata: { namespace, name: 'w' }, spec: { size: 4 } }));
    await env.settle({ horizon: '100ms' });
    const stored = await env.client.get(ConfigMap, { namespace, name: 'w' });
    expect(stored.data).toEqual({ size: '4' });
    await env.expectConverged({ horizon: '100ms' });
    expect(env.requests.lines({ verb: 'write' })).toEqual([
      `patch ConfigMap ${namespace}/w`,
      `patch Widget ${namespace}/w/status`,
    ]);
    // Faults are on the way, whatever the server.
    env.faults.add({ client: 'unlucky', verb: 'create' }, { cut: 'answer' }, { times: 1 });
    const { client } = env.connect({ name: 'unlucky' });
    const lost = ConfigMap({ metadata: { namespace, name: 'lost' } });
    await expect(client.create(lost)).rejects.toSatisfy(isConnectionReset);
    await expect(client.create(lost)).rejects.toSatisfy(isAlreadyExists);
    await env.reset();
    expect((await env.client.list(Widget)).items).toEqual([]);
    expect(await env.client.find(ConfigMap, { namespace, name: 'w' })).toBe(undefined);
    expect((await env.client.list(CustomResourceDefinition)).items.map(({ spec }) => spec.names.kind)).toContain(
      'Widget',
    );
  } finally {
    await env.stop();
  }
});
