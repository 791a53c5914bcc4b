// `npm run demo`: a cluster in this process, two controllers, and a view of what they do. Runs until Ctrl-C.
import { reconcileLine, Screen } from '@riata/cli/view';
import { createClient, Manager, type RestConfig, signalHandler, silentLogger, systemClock } from 'riata';
import { Deployment, Pod } from 'riata/kinds';
import { Controllers } from 'riata/patterns';
import { App } from '../app-platform/app.js';
import { runApps } from '../app-platform/main.js';
import { Foo, foos } from '../sample-controller/main.js';
import { namespace, type Place, sandbox } from './place.js';
import { realCluster } from './real-cluster.js';
import { playStory } from './story.js';
import { draw, lineOf, type ObjectLine } from './view.js';

const isLive = process.stdout.isTTY === true;
const kinds = [App, Foo];

async function open(options: readonly string[]): Promise<Place | undefined> {
  if (!options.includes('--cluster')) return sandbox(kinds);
  return realCluster(kinds, options.includes('--yes') ? { agrees: async () => true } : {});
}

/** The controllers, limited to the demo's namespace. */
async function controllersFor(config: RestConfig) {
  const runtime = { log: silentLogger };
  const manager = await Manager.create({ config, cache: { namespaces: [namespace] }, runtime });
  manager.add(foos);
  const controllers = await Controllers.fromConfig(config, { cacheDefaults: { namespaces: [namespace] }, runtime });
  const stop = new AbortController();
  runApps(controllers, stop);
  const running = [manager.run(stop), controllers.run(stop)];
  return {
    explain: () => [...manager.explain, ...controllers.factory.explain],
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(running);
      await controllers[Symbol.asyncDispose]();
      await manager[Symbol.asyncDispose]();
    },
  };
}

async function main(options: readonly string[]): Promise<void> {
  await using place = await open(options);
  if (place === undefined) return;
  using signals = signalHandler();
  const end = new AbortController();
  const { signal } = end;
  signals.signal.addEventListener('abort', () => end.abort(signals.signal.reason));
  await using client = createClient(place.config, { runtime: { log: silentLogger } });
  await using controllers = await controllersFor(place.config);

  const screen = isLive ? new Screen((text) => void process.stdout.write(text)) : undefined;
  let chapter = 'Ready';
  const printed = new Set<string>();
  const hints = [place.kubectl, `kubectl get apps,foos,deployments,pods -n ${namespace} · Ctrl-C stops the demo`];
  const records = () =>
    [...controllers.explain(), ...place.explain()]
      .filter(({ writes, error }) => writes.length > 0 || error !== undefined)
      .sort((a, b) => a.startedAt - b.startedAt);

  const objects = async (): Promise<ObjectLine[]> => {
    const [apps, all, deployments, pods] = await Promise.all([
      client.list(App, { namespace }),
      client.list(Foo, { namespace }),
      client.list(Deployment, { namespace }),
      client.list(Pod, { namespace }),
    ]);
    return [...apps.items, ...all.items, ...deployments.items, ...pods.items].map(lineOf);
  };

  const show = async (): Promise<void> => {
    if (!isLive) {
      for (const record of records().filter(({ reconcileID }) => !printed.has(reconcileID))) {
        printed.add(record.reconcileID);
        console.log(`  ${reconcileLine(record)}`);
      }
      return;
    }
    const { columns = 80, rows = 24 } = process.stdout;
    const scene = { title: `Riata on ${place.name}`, chapter, objects: await objects(), records: records(), hints };
    const lines = draw(scene, columns, rows);
    if (!signal.aborted) screen?.show(lines);
  };

  const watchIt = async (): Promise<void> => {
    while (!signal.aborted) {
      await show().catch(() => undefined);
      await systemClock.sleep(isLive ? 200 : 50);
    }
  };

  const watching = watchIt();
  try {
    const begin = (title: string) => {
      chapter = title;
      if (!isLive) console.log(`\n${title}`);
    };
    await playStory(client, { begin, signal, ...(isLive ? { pauseMs: 3000 } : { pauseMs: 100, patienceMs: 300_000 }) });
    begin('Your turn: change something with kubectl and watch');
    if (!isLive) {
      await show();
      for (const object of await objects()) console.log(`  now: ${object.kind} ${object.name}: ${object.state}`);
      end.abort();
    }
    await watching;
  } catch (error) {
    // Ctrl-C in the middle of the story.
    if (!signals.signal.aborted) throw error;
  } finally {
    end.abort();
    await watching;
    screen?.[Symbol.dispose]();
    await place.cleanUp();
  }
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
