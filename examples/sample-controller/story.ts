import { control, type Manager, type ReconcileRecord, systemClock } from 'riata';
import { CustomResourceDefinition, Deployment } from 'riata/kinds';
import { Foo, foos } from './main.js';

/** Stands in for the Deployment controller and the nodes: every replica is available at once. */
const pretendDeployments = control(Deployment, { name: 'pretend' }).reconcile(async ({ object, status }) => {
  const replicas = object.spec.replicas ?? 1;
  const { generation } = object.metadata;
  await status({ observedGeneration: generation, replicas, readyReplicas: replicas, availableReplicas: replicas });
});

/** Creates, scales, disturbs and deletes a Foo, and prints what the controllers do about it, and why. */
export async function play(manager: Manager, print: (line: string) => void): Promise<void> {
  const { client } = manager;
  const key = { namespace: 'default', name: 'web' };
  let printed = 0;
  const step = async (title: string, act: () => Promise<unknown>, isOver: () => Promise<boolean>) => {
    print(`\n${title}`);
    await act();
    await until(isOver);
    await until(async () => manager.controllers.every(({ queued, active }) => queued === 0 && active.length === 0));
    const records = manager.explain.filter(({ writes }) => writes.length > 0);
    for (const record of records.slice(printed)) print(`  ${describe(record)}`);
    printed = records.length;
    for (const foo of (await client.list(Foo)).items) {
      print(`  now: Foo ${foo.metadata.name}, ${foo.status?.availableReplicas} of ${foo.spec.replicas} available`);
    }
  };
  const available = (count: number) => async () => {
    const { status, spec } = await client.get(Foo, key);
    return spec.replicas === count && status?.availableReplicas === count;
  };

  await client.apply(CustomResourceDefinition(Foo.crd()), { fieldManager: 'demo' });
  manager.add(foos);
  manager.add(pretendDeployments);
  await until(
    async () => manager.controllers.length === 2 && manager.controllers.every(({ phase }) => phase === 'running'),
  );

  const foo = Foo({ metadata: key, spec: { deploymentName: 'web', replicas: 2 } });
  await step('Create a Foo with 2 replicas', () => client.create(foo), available(2));
  const four = { spec: { replicas: 4 } };
  await step('Scale it to 4', () => client.patch(Foo, key, { type: 'merge', body: four }), available(4));
  const before = await client.get(Deployment, key);
  const isNew = async () => {
    const found = await client.find(Deployment, key);
    return found?.metadata.uid !== before.metadata.uid && found?.status.availableReplicas === 4 && available(4)();
  };
  await step('Delete the Deployment: it is restored', () => client.delete(Deployment, key), isNew);
  const isGone = async () => (await client.find(Deployment, key)) === undefined;
  await step('Delete the Foo: its Deployment is garbage-collected', () => client.delete(Foo, key), isGone);
}

function describe({ controller, reasons, writes, durationMs }: ReconcileRecord): string {
  const why = reasons.map(({ source, change }) => (change === undefined ? source : `${source} ${change}`)).join(', ');
  const what = writes.map(({ verb, object }) => `${verb} ${object}`).join(', ');
  return `${controller} (${why}): ${what}, ${durationMs.toFixed(1)} ms`;
}

/** Polls the cache, which costs no requests. */
async function until(isOver: () => Promise<boolean>): Promise<void> {
  while (!(await isOver())) await systemClock.sleep(10);
}
