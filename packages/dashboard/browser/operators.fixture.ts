import { ApiServer } from '@riata/apiserver';
import { Sandbox } from '@riata/sandbox';
import { type ConnectedClient, control, Manager, silentLogger } from 'riata';
import { ConfigMap, Deployment, Namespace, Secret } from 'riata/kinds';
import { installCrds } from 'riata/patterns';
import { siteRules, sites, siteVersions } from '../../../examples/guarded-sites/main.js';
import { Site } from '../../../examples/guarded-sites/site.js';
import { Foo, foos } from '../../../examples/sample-controller/main.js';
import { pilots, Ship } from '../../../examples/sharded-fleet/main.js';
import { until } from './until.fixture.js';

export { Foo, Ship };

/** Where everything is. */
export const namespace = 'shop';

/** Hidden in a Secret, an annotation and an error of the API server. */
export const secret = 'xyzzy-plugh';

/** Keeps a Secret for each ConfigMap that asks for one, in every cluster. */
const passwords = control(ConfigMap, { name: 'passwords', clusters: 'all' })
  .owns(Secret)
  .reconcile(async ({ object: { metadata, data }, apply }) => {
    if (data?.password === undefined) return;
    const { name, namespace: place } = metadata;
    await apply(Secret({ metadata: { name, namespace: place }, stringData: { password: secret } }));
  });

/** The example operators in one manager with a dashboard, on a sandbox. */
export interface Operators extends AsyncDisposable {
  readonly url: string;
  readonly client: ConnectedClient;
  readonly manager: Manager;
  readonly sandbox: Sandbox;
}

/** Starts a sandbox, the examples' controllers and webhooks, a second replica for the shards and a second cluster. */
export async function startOperators(): Promise<Operators> {
  const sandbox = await Sandbox.start({ nodes: 2, log: silentLogger });
  const north = await ApiServer.start({ log: silentLogger });
  const { client, config } = sandbox;
  await installCrds(client, [Site, Foo, Ship]);
  await client.create(Namespace({ metadata: { name: namespace } }));
  // Long ones: a machine that stands still must not cost a lease.
  const times = { leaseDuration: '600s', renewDeadline: '500s', retryPeriod: '500ms' } as const;
  // Slots are acquired once the leases of earlier owners could have ended.
  const memberTimes = { leaseDuration: '15s', renewDeadline: '12s', retryPeriod: '500ms' } as const;
  const sharding = (identity: string) => ({ namespace, name: 'fleet', identity, ...memberTimes });
  const runtime = { log: silentLogger };
  const manager = await Manager.create({
    config,
    dashboard: { port: 0 },
    webhooks: { port: 0, namespace, name: 'shop-operator' },
    leaderElection: { namespace, name: 'shop-operator', identity: 'replica-0', ...times },
    ...{ sharding: sharding('replica-0'), runtime },
  });
  for (const each of [foos, sites, siteRules, siteVersions, pilots('replica-0'), passwords]) manager.add(each as never);
  const other = await Manager.create({ config, sharding: sharding('replica-1'), runtime });
  other.add(pilots('replica-1'));
  const stop = new AbortController();
  const running = [manager.run(stop), other.run(stop)];
  manager.clusters.add('north', north.config);
  await manager.elected;
  // From here on its webhooks guard what is created.
  await until(async () => {
    const spec = { image: image('1'), host: 'probe.example.com' };
    await client.create(Site({ metadata: { namespace, name: 'probe' }, spec }), { dryRun: true });
    return manager.webhookCalls.length > 0 ? manager.urls.dashboard : undefined;
  });
  await fill(client);
  return {
    ...{ url: manager.urls.dashboard as string, client, manager, sandbox },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(running);
      await manager[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
      await north.stop();
      await sandbox.stop();
    },
  };
}

const image = (tag: string) => ({ name: 'registry.example.com/shop', tag });

async function fill(client: ConnectedClient): Promise<void> {
  for (const name of ['apples', 'pears', 'plums']) {
    await client.create(Foo({ metadata: { namespace, name }, spec: { deploymentName: name, replicas: 2 } }));
  }
  // Its Deployment belongs to nobody: the example's reconciler throws.
  const labels = { app: 'taken' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx:1.29' }] } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  await client.create(Deployment({ metadata: { namespace, name: 'taken' }, spec }));
  await client.create(Foo({ metadata: { namespace, name: 'unlucky' }, spec: { deploymentName: 'taken' } }));
  for (const [at, name] of ['web', 'blog', 'docs'].entries()) {
    const host = `${name}.example.com`;
    await client.create(Site({ metadata: { namespace, name }, spec: { image: image(`${at + 1}`), host } }));
  }
  // Refused by the example's webhook.
  await client
    .create(Site({ metadata: { namespace, name: 'copy' }, spec: { image: image('1'), host: 'web.example.com' } }))
    .catch(() => {});
  for (let at = 0; at < 20; at += 1) {
    await client.create(Ship({ metadata: { namespace, name: `ship-${at}` }, spec: { course: at * 7 } }));
  }
  await client.create(ConfigMap({ metadata: { namespace, name: 'login' }, data: { password: 'wanted' } }));
}
