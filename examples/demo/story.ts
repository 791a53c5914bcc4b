import { type Client, ignoreNotFound, systemClock } from 'riata';
import { Deployment, Namespace, Pod } from 'riata/kinds';
import { App } from '../app-platform/app.js';
import { Foo } from '../sample-controller/main.js';
import { namespace } from './place.js';

/** How a story is told. */
export interface Telling {
  /** Told of each chapter when it begins. */
  readonly begin: (chapter: string) => void;
  /** Between two chapters. */
  readonly pauseMs: number;
  /** How long a chapter may take. @default as long as it takes */
  readonly patienceMs?: number;
  readonly signal: AbortSignal;
}

/** What happens: each chapter has a title, does something, and is over when all has come right. Rejects when aborted. */
export async function tell(client: Client, { begin, pauseMs, patienceMs, signal }: Telling): Promise<void> {
  const chapter = async (title: string, act: () => Promise<unknown>, isOver: () => Promise<boolean>) => {
    begin(title);
    const started = systemClock.monotonic();
    await act();
    while (!(await isOver())) {
      await systemClock.sleep(50, { signal });
      if (patienceMs !== undefined && systemClock.monotonic() - started > patienceMs) {
        throw new Error(
          `"${title}": that has not come about in ${patienceMs / 60_000} minutes; kubectl get pods -n ${namespace} tells why`,
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
    'An App is created: app-platform makes a Deployment, a Service and a ConfigMap of it',
    () => client.create(app),
    appIs(2),
  );
  const foo = Foo({ metadata: web, spec: { deploymentName: 'web', replicas: 3 } });
  await chapter(
    'A Foo is created that wants 3 replicas: sample-controller makes its Deployment',
    () => client.create(foo),
    fooHas(3),
  );
  const body = { spec: { image: 'nginx:1.29-alpine', settings: { CURRENCY: 'CHF' } } };
  const isNew = async () =>
    (await pods()).filter(({ spec }) => spec?.containers[0]?.image === 'nginx:1.29-alpine').length === 2 &&
    (await appIs(2)());
  await chapter(
    'The App gets a new image and other settings: its Pods are replaced, one after the other',
    () => client.patch(App, shop, { type: 'merge', body }),
    isNew,
  );
  const [victim] = await pods();
  const isBack = async () =>
    (await fooHas(3)()) &&
    (await appIs(2)()) &&
    !(await pods()).some(({ metadata }) => metadata.uid === victim?.metadata.uid);
  await chapter(
    'Somebody deletes a Pod: another one comes',
    async () => victim && client.delete(Pod, victim.metadata).catch(ignoreNotFound),
    isBack,
  );
  const before = await client.get(Deployment, web);
  const isMade = async () => {
    const found = await client.find(Deployment, web);
    return found !== undefined && found.metadata.uid !== before.metadata.uid && fooHas(3)();
  };
  await chapter("Somebody deletes the Foo's Deployment: it is made anew", () => client.delete(Deployment, web), isMade);
  const isGone = async () => (await client.find(Deployment, web)) === undefined;
  await chapter(
    'The Foo is deleted: what it owns goes with it',
    () => client.delete(Foo, web).catch(ignoreNotFound),
    isGone,
  );
}
