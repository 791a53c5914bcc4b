import { once } from 'node:events';
import type { ConnectedClient } from 'riata';
import { ConfigMap, Deployment, Lease, Namespace } from 'riata/kinds';
import { LeaderElector, LeaseLock } from 'riata/manager';
import { installCrds } from 'riata/patterns';
import { isAlreadyExists } from 'riata/rest';
import { silentLogger } from 'riata/runtime';
import { expect, vi } from 'vitest';
import { type DevProcess, startDev } from './dev-process.fixture.js';
import { type DevProject, Widget, widgetOperator } from './dev-project.fixture.js';
import { replicasAnnotation } from './take-over/give-back.js';

const patience = { timeout: 90_000, interval: 50 };
const key = { namespace: 'widget-operator', name: 'widget-operator' };
const devLease = { ...key, name: 'widget-operator-riata-dev' };

/** An operator whose Lease, once held, does not expire within a test. */
export const electedOperator = {
  ...widgetOperator,
  'src/main.ts': `import { widgets } from './widgets.js';

export const definitions = [widgets];
export const options = {
  leaderElection: { namespace: '${key.namespace}', name: '${key.name}', leaseDuration: '1h', renewDeadline: '30m', retryPeriod: '1s' },
} as const;
`,
};

/** A cluster, and a project in which the command is installed. */
export interface KilledDevParts {
  readonly project: DevProject;
  readonly program: string;
  readonly client: ConnectedClient;
  readonly kubeconfig: string;
}

/** `riata dev --take-over` is killed: the deployed operator gets its replicas back. */
export async function killScaled({ project, program, client, kubeconfig }: KilledDevParts): Promise<void> {
  await makeNamespace(client);
  const labels = { app: key.name };
  const containers = [{ name: 'main', image: 'registry.example.com/widget-operator' }];
  const template = { metadata: { labels }, spec: { containers } };
  await client.create(
    Deployment({ metadata: key, spec: { replicas: 2, selector: { matchLabels: labels }, template } }),
  );
  await using dev = startDev(project, program, devArguments(kubeconfig, '--take-over'));
  await dev.saw(/scaled Deployment widget-operator\/widget-operator to zero/);
  // As the controller of Deployments does.
  const { metadata, spec } = await client.get(Deployment, key);
  expect([spec.replicas, metadata.annotations?.[replicasAnnotation]]).toEqual([0, '2']);
  const status = { observedGeneration: metadata.generation ?? 0, replicas: 0 };
  await client.status.patch(Deployment, key, { type: 'merge', body: { status } });
  await dev.saw(/started widget in/);
  const holder = async () => (await client.find(Lease, key))?.spec?.holderIdentity;
  await vi.waitFor(async () => expect(await holder()).toMatch(/^riata dev of /), patience);
  await kill(dev);
  await vi.waitFor(async () => {
    const found = await client.get(Deployment, key);
    expect([found.spec.replicas, found.metadata.annotations?.[replicasAnnotation]]).toEqual([2, undefined]);
    expect(await client.find(Lease, devLease)).toBeUndefined();
  }, patience);
  // Not after an hour: the Pods that start again can lead at once.
  expect(await holder()).toBeUndefined();
  await client.delete(Deployment, key);
}

/** `riata dev --take-over=lease` is killed: the deployed operator leads again. */
export async function killLeading({ project, program, client, kubeconfig }: KilledDevParts): Promise<void> {
  await makeNamespace(client);
  const stop = new AbortController();
  let terms = 0;
  const lock = new LeaseLock(client, { ...key, identity: 'deployed' });
  const times = { leaseDuration: '2s', renewDeadline: '1s', retryPeriod: '200ms' } as const;
  // Kubernetes starts a Pod again that has lost its Lease.
  const deployed = (async () => {
    while (!stop.signal.aborted) {
      const elector = new LeaderElector({
        ...{ lock, ...times, runtime: { log: silentLogger } },
        onStartedLeading: () => {
          terms += 1;
        },
      });
      await elector.run({ signal: stop.signal });
    }
  })();
  try {
    await vi.waitFor(() => expect(terms).toBe(1), patience);
    await using dev = startDev(project, program, devArguments(kubeconfig, '--take-over=lease'));
    await dev.saw(/took Lease widget-operator\/widget-operator from deployed; waiting 2 s, until it has stopped/);
    await dev.saw(/started widget in/);
    await installCrds(client, [Widget], { wait: true });
    const widget = { namespace: key.namespace, name: 'a' };
    await client.create(Widget({ metadata: widget, spec: {} }));
    await vi.waitFor(() => client.get(ConfigMap, widget), patience);
    const { spec } = await client.get(Lease, key);
    expect(spec).toMatchObject({ holderIdentity: expect.stringMatching(/^riata dev of /), leaseDurationSeconds: 3600 });
    expect(terms).toBe(1);
    await kill(dev);
    // Not by waiting an hour: the Lease is released.
    await vi.waitFor(() => expect(terms).toBe(2), patience);
    expect((await client.get(Lease, key)).spec?.holderIdentity).toBe('deployed');
    await vi.waitFor(async () => expect(await client.find(Lease, devLease)).toBeUndefined(), patience);
    await client.delete(Widget, widget);
  } finally {
    stop.abort();
    await deployed;
  }
}

async function kill({ child }: DevProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  expect(await exited).toEqual([null, 'SIGKILL']);
}

function devArguments(kubeconfig: string, takeOver: string): readonly string[] {
  return ['--kubeconfig', kubeconfig, '--types', 'off', '--no-dashboard', takeOver];
}

async function makeNamespace(client: ConnectedClient): Promise<void> {
  try {
    await client.create(Namespace({ metadata: { name: key.namespace } }));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
