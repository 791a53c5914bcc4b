import { createClient, loadConfig, silentLogger } from 'riata';
import { ClusterRole, CustomResourceDefinition, Deployment, Namespace, PodDisruptionBudget } from 'riata/kinds';
import { afterAll, expect, test } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { runIn } from '../src/command/command-io.fixture.js';
import { conditions, makeProject, siteOperator } from '../src/config/project.fixture.js';

// There is no kubelet here: that Pods become ready is tried on the sandbox.
const project = makeProject(siteOperator);
afterAll(() => project[Symbol.dispose]());
// Its own: without a controller manager, a namespace that is deleted stays.
const namespace = 'site-operator-deployed';
const key = { namespace, name: 'site-operator' };
const crd = { name: 'sites.sites.example.com' };

test('deploy, deploy again and undeploy on a real API server', async () => {
  const { kubeconfigPath } = controlPlaneFromEnv();
  await using client = createClient(await loadConfig({ path: kubeconfigPath }), { runtime: { log: silentLogger } });
  const shared = [
    '--kubeconfig',
    kubeconfigPath,
    ...conditions.flatMap((each) => ['--conditions', each]),
    '-n',
    namespace,
  ];
  const run = (command: string, ...args: string[]) => runIn(project.folder, [command, ...shared, ...args]);

  expect(await run('deploy', '--yes', '--no-wait')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/\d+ to create$/),
  });
  expect((await client.get(Deployment, key)).spec.template.spec?.containers[0]?.image).toBe(
    'registry.example.com/site-operator:1.2.3',
  );
  // The server's defaults are no changes.
  expect(await run('deploy', '--dry-run')).toMatchObject({ code: 0, out: 'nothing to change' });
  const image = 'registry.example.com/site-operator:2';
  const update = await run('deploy', '--yes', '--no-wait', '--image', image);
  expect(update.out.split('\n')).toEqual([
    `~ update Deployment ${namespace}/site-operator`,
    expect.stringContaining(
      'image: "registry.example.com/site-operator:1.2.3" → "registry.example.com/site-operator:2"',
    ),
    '1 to update',
  ]);

  // Not ready: the command says so. Without a controller manager there is not even a Pod.
  expect(await run('deploy', '--yes', '--image', image, '--timeout', '1s')).toMatchObject({
    ...{ code: 1, notes: expect.stringContaining('site-operator is deployed, but not ready') },
  });

  // Of a kind that the operator does not have: the namespace stays for it.
  const budget = PodDisruptionBudget({ metadata: { namespace, name: 'mine' }, spec: { minAvailable: 1 } });
  await client.create(budget);
  const first = await run('undeploy', '--yes', '--json');
  expect(JSON.parse(first.out)).toMatchObject({
    unlisted: {},
    kept: expect.arrayContaining([`Namespace ${namespace}: it still holds PodDisruptionBudget mine`]),
  });
  expect(await client.find(Deployment, key)).toBeUndefined();
  await client.delete(PodDisruptionBudget, { namespace, name: 'mine' });
  await run('deploy', '--yes', '--no-wait');

  const removed = await run('undeploy', '--yes', '--crds', '--json');
  expect(JSON.parse(removed.out).deleted).toEqual(
    expect.arrayContaining([
      'CustomResourceDefinition sites.sites.example.com',
      `Deployment ${namespace}/site-operator`,
      `Namespace ${namespace}`,
    ]),
  );
  expect(await client.find(Deployment, key)).toBeUndefined();
  expect(await client.find(CustomResourceDefinition, crd)).toBeUndefined();
  const roles = (await client.list(ClusterRole)).items.filter(({ metadata }) =>
    metadata.name.startsWith('site-operator'),
  );
  expect(roles).toEqual([]);
  // Gone when a controller manager has emptied it.
  expect((await client.find(Namespace, { name: namespace }))?.metadata.deletionTimestamp).toBeDefined();
});
