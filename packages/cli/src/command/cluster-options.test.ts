import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProject } from '../config/project.fixture.js';
import { clusterConfig } from './cluster-options.js';

const kubeconfig = (server: string) =>
  JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'a' },
    clusters: [{ name: 'a', cluster: { server } }],
    contexts: ['a', 'b'].map((name) => ({ name, context: { cluster: 'a', user: '', namespace: name } })),
    users: [],
  });

test('the cluster is found by the environment and the folder of the command, not of the process', async () => {
  using folder = makeProject({
    'given.yaml': kubeconfig('https://given'),
    'sub/home.yaml': kubeconfig('https://home'),
  });
  const io = { cwd: folder.folder, env: { KUBECONFIG: 'sub/home.yaml' } };
  expect((await clusterConfig(io, {})).server).toBe('https://home');
  expect((await clusterConfig(io, { kubeconfig: 'given.yaml' })).server).toBe('https://given');
  const { namespace } = await clusterConfig(io, { context: 'b' });
  expect(namespace).toBe('b');
  await expect(clusterConfig({ ...io, env: { HOME: join(folder.folder, 'none') } }, {})).rejects.toThrow(
    /KUBECONFIG.*not set/s,
  );
});
