import { control, createClient, loadConfig, Manager, silentLogger } from 'riata';
import { ClusterRole, ClusterRoleBinding, CustomResourceDefinition, Namespace, Pod } from 'riata/kinds';
import { waitServed } from 'riata/patterns';
import { systemClock, systemRandom } from 'riata/runtime';
import { expect, test } from 'vitest';
import { KubeletStandIn } from '../../riata/behaviour/kubelet-stand-in.js';
import { memoryIo, runIn } from '../src/command/command-io.fixture.js';
import { loadOperator } from '../src/config/load-operator.js';
import { conditions, makeProject, siteOperator } from '../src/config/project.fixture.js';
import { joinLocalPort } from '../src/inspect/pod-network.fixture.js';
import { operatorObjects } from '../src/manifests/operator-objects.js';
import { Site } from '../src/manifests/site-operator.fixture.js';

async function until<T>(get: () => T | undefined): Promise<T> {
  for (;;) {
    const value = get();
    if (value !== undefined) return value;
    await systemClock.sleep(10);
  }
}

// The Pod's kubelet is a stand-in, which leads port-forwards to this process.
test('explain, top and doctor of an operator behind a port-forward of a real API server', async () => {
  const namespace = `site-operator-${systemRandom.int(0, 0xffff_ffff).toString(36)}`;
  const metrics = { port: 8080, debug: true, protected: true };
  using project = makeProject({
    ...siteOperator,
    'riata.config.ts': siteOperator['riata.config.ts']?.replace('name:', `namespace: '${namespace}', name:`) ?? '',
    'src/main.ts': `import { sites } from './sites.js';
export const definitions = [sites];
export const options = { metrics: ${JSON.stringify(metrics)} };`,
  });
  const config = await loadConfig();
  await using client = createClient(config, { runtime: { log: silentLogger } });
  const { operator } = await loadOperator(memoryIo({ cwd: project.folder }), { conditions });
  const objects = await operatorObjects(operator);
  for (const object of objects) await client.apply(object as never, { fieldManager: 'test', force: true });
  await waitServed(client, Site);
  const listening = { ...metrics, host: '127.0.0.1', port: 0 };
  const manager = await Manager.create({ config, metrics: listening, runtime: { log: silentLogger } });
  const stop = new AbortController();
  manager.add(control(Site).reconcile(async ({ status }) => void (await status({ availableReplicas: 1 }))));
  const running = manager.run(stop);
  const connected: number[] = [];
  await using kubelet = await KubeletStandIn.start(client, `node-${namespace}`, {
    connect: async (_pod, port, connection) => {
      connected.push(port);
      await joinLocalPort(Number(new URL(await until(() => manager.urls.metrics)).port), connection);
    },
  });
  try {
    const { spec } = objects.find(({ kind }) => kind === 'Deployment') as unknown as {
      readonly spec: {
        readonly template: {
          readonly metadata: { readonly labels: Record<string, string> };
          readonly spec: Pod['spec'];
        };
      };
    };
    const { template } = spec;
    const metadata = { namespace, name: 'site-operator-1', labels: template.metadata.labels };
    await client.create(Pod({ metadata, spec: { ...template.spec, nodeName: kubelet.node } as never }));
    await client.status.patch(Pod, metadata, { type: 'merge', body: { status: { phase: 'Running' } } });
    await client.create(Site({ metadata: { namespace, name: 'web' }, spec: { image: 'web:1' } }));
    await until(() => manager.explain.find(({ key }) => key.name === 'web'));

    const riata = (...args: readonly string[]) =>
      runIn(project.folder, [...args, '--conditions', ...conditions], {
        env: { ...process.env, RIATA_TOKEN: undefined },
      });
    const explained = await riata('explain', 'Site/web', '-n', namespace);
    expect(explained).toMatchObject({ code: 0, notes: '' });
    expect(explained.out).toContain(`why: for Site: Added Site ${namespace}/web`);
    expect(explained.out).toContain(`Site ${namespace}/web/status → `);
    expect(new Set(connected)).toEqual(new Set([8080]));
    const shown = await riata('top', '--json');
    expect(shown).toMatchObject({ code: 0, notes: '' });
    expect(JSON.parse(shown.out)).toMatchObject({
      operator: 'site-operator',
      replicas: 1,
      controllers: [{ name: 'site' }],
    });
    const checked = await riata('doctor', '--json');
    const findings = JSON.parse(checked.out).checks as readonly {
      readonly check: string;
      readonly findings: readonly { readonly level: string }[];
    }[];
    const levels = (check: string) => findings.find((each) => each.check === check)?.findings.map(({ level }) => level);
    expect(levels('connection')).toContain('ok');
    expect({ definitions: levels('definitions'), rights: levels('rights') }).toEqual({
      definitions: ['ok'],
      rights: ['ok'],
    });
  } finally {
    stop.abort();
    await running;
    await manager[Symbol.asyncDispose]();
    await client.delete(Pod, { namespace, name: 'site-operator-1' }, { gracePeriodSeconds: 0 });
    const kinds = [CustomResourceDefinition, ClusterRole, ClusterRoleBinding];
    for (const { kind, metadata } of objects) {
      const deleted = kinds.find((each) => each.kind === kind);
      if (deleted !== undefined) await client.delete(deleted as never, { name: metadata.name ?? '' } as never);
    }
    await client.delete(Namespace, { name: namespace });
  }
});
