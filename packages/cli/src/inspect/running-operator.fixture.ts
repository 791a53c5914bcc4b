import { ApiServer } from '@riata/apiserver';
import {
  type ConnectedClient,
  control,
  createClient,
  defineKind,
  Manager,
  type ManagerOptions,
  type RestConfig,
  silentLogger,
} from 'riata';
import { ConfigMap } from 'riata/kinds';
import { installCrds } from 'riata/patterns';
import { systemClock } from 'riata/runtime';
import { z } from 'zod';

export const Site = defineKind({
  group: 'sites.example.com',
  version: 'v1',
  kind: 'Site',
  spec: z.object({ title: z.string() }),
  status: z.object({ pages: z.int() }),
});

/** Keeps a ConfigMap for each Site; fails for those with the title `broken`. */
export const sites = control(Site)
  .owns(ConfigMap)
  .reconcile(async ({ object: { metadata, spec }, apply, status }) => {
    if (spec.title === 'broken') throw new Error('the title is broken');
    await apply(ConfigMap({ metadata: { name: metadata.name }, data: { title: spec.title } }));
    await status({ pages: 1 });
  });

/** An operator on a server of its own, with its pages below `/debug`. */
export interface RunningOperator extends AsyncDisposable {
  readonly url: string;
  readonly client: ConnectedClient;
  readonly manager: Manager;
}

/** @param given the server to run on; without one, a server of its own */
export async function startOperator(
  metrics: Partial<NonNullable<ManagerOptions['metrics']>> = {},
  given?: RestConfig,
): Promise<RunningOperator> {
  const server = given === undefined ? await ApiServer.start() : undefined;
  const config = given ?? (server as ApiServer).config;
  const client = createClient(config, { runtime: { log: silentLogger } });
  await installCrds(client, [Site]);
  const manager = await Manager.create({
    config,
    metrics: { host: '127.0.0.1', port: 0, debug: true, ...metrics },
    runtime: { log: silentLogger },
  });
  manager.add(sites);
  const stop = new AbortController();
  const running = manager.run(stop);
  await manager.elected;
  const url = await until(() => manager.urls.metrics);
  return {
    ...{ url, client, manager },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      await manager[Symbol.asyncDispose]();
      await client.close();
      await server?.stop();
    },
  };
}

/** Waits until there is a value, one turn of the event loop at a time. */
export async function until<T>(get: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const value = await get();
    if (value !== undefined) return value;
    await systemClock.sleep(5);
  }
}

/** Creates a Site in the namespace `default`, and waits until it was reconciled. */
export async function reconcileSite({ client, manager }: RunningOperator, name: string, title = name): Promise<void> {
  await client.create(Site({ metadata: { namespace: 'default', name }, spec: { title } }));
  await until(() => manager.explain.find(({ key }) => key.name === name));
}
