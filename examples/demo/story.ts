import { type Client, ignoreNotFound, systemClock } from 'riata';
import { Deployment, Namespace, Pod } from 'riata/kinds';
import { App } from '../app-platform/app.js';
import { Foo } from '../sample-controller/main.js';
import { namespace } from './place.js';

/** Options of {@link playStory}. */
export interface StoryOptions {
  /** Called when a chapter starts. */
  readonly begin: (chapter: string) => void;
  /** Pause between two chapters. */
  readonly pauseMs: number;
  /** A chapter that takes longer fails. @default no limit */
  readonly patienceMs?: number;
  readonly signal: AbortSignal;
}

/** Plays the demo's chapters: each has a title, changes something, and ends when the cluster has converged. Rejects on abort. */
export async function playStory(client: Client, { begin, pauseMs, patienceMs, signal }: StoryOptions): Promise<void> {
  const chapter = async (title: string, act: () => Promise<unknown>, isOver: () => Promise<boolean>) => {
    begin(title);
    const started = systemClock.monotonic();
    await act();
    while (!(await isOver())) {
      await systemClock.sleep(50, { signal });
      if (patienceMs !== undefined && systemClock.monotonic() - started > patienceMs) {
        throw new Error(
          `"${title}": not done after ${patienceMs / 60_000} minutes; check kubectl get pods -n ${namespace}`,
        );
      }
    }
    await systemClock.sleep(pauseMs, { signal });
  };
  const shop = { namespace, name: 'shop' };
  const web = { namespace, name: 'web' };
  const appIs = (replicas: number) => async () => {
    const { status } = await client.get(App, shop);
    return status?.state === 'active' && status.replicas === replicas;
  };
  const fooHas = (count: number) => async () => (await client.get(Foo, web)).status?.availableReplicas === count;
  const pods = async () =>
    (await client.list(Pod, { namespace })).items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);

  const home = await client.find(Namespace, { name: namespace });
  if (home === undefined) await client.create(Namespace({ metadata: { name: namespace } }));
  const app = App({
    metadata: shop,
    spec: { image: 'nginx:1.28-alpine', port: 80, replicas: 2, settings: { CURRENCY: 'EUR' } },
  });
  await chapter(
    'Create an App: app-platform creates its Deployment, Service and ConfigMap',
    () => client.create(app),
    appIs(2),
  );
  const foo = Foo({ metadata: web, spec: { deploymentName: 'web', replicas: 3 } });
  await chapter(
    'Create a Foo with 3 replicas: sample-controller creates its Deployment',
    () => client.create(foo),
    fooHas(3),
  );
  const body = { spec: { image: 'nginx:1.29-alpine', settings: { CURRENCY: 'CHF' } } };
  const isNew = async () =>
    (await pods()).filter(({ spec }) => spec?.containers[0]?.image === 'nginx:1.29-alpine').length === 2 &&
    (await appIs(2)());
  await chapter(
    'Change image and settings of the App: its Pods are replaced in a rolling update',
    () => client.patch(App, shop, { type: 'merge', body }),
    isNew,
  );
  const [victim] = await pods();
  const isBack = async () =>
    (await fooHas(3)()) &&
    (await appIs(2)()) &&
    !(await pods()).some(({ metadata }) => metadata.uid === victim?.metadata.uid);
  await chapter(
    'Delete a Pod: it is replaced',
    async () => victim && client.delete(Pod, victim.metadata).catch(ignoreNotFound),
    isBack,
  );
  const before = await client.get(Deployment, web);
  const isMade = async () => {
    const found = await client.find(Deployment, web);
    return found !== undefined && found.metadata.uid !== before.metadata.uid && fooHas(3)();
  };
  await chapter("Delete the Foo's Deployment: it is restored", () => client.delete(Deployment, web), isMade);
  const isGone = async () => (await client.find(Deployment, web)) === undefined;
  await chapter(
    'Delete the Foo: its Deployment is garbage-collected',
    () => client.delete(Foo, web).catch(ignoreNotFound),
    isGone,
  );
}
