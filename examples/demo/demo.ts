// `npm run demo`: a cluster in this process, two controllers, and the view of `riata top`. Runs until q or Ctrl-C.
import { followUrl, reconcileLine, showLive } from '@riata/cli/view';
import { type Client, createClient, signalHandler, silentLogger, systemClock } from 'riata';
import { Deployment, Pod } from 'riata/kinds';
import { resolveRuntime } from 'riata/runtime';
import { App } from '../app-platform/app.js';
import { Foo } from '../sample-controller/main.js';
import { objectLine } from './object-line.js';
import { startOperator } from './operator.js';
import { namespace, type Place, sandbox } from './place.js';
import { realCluster } from './real-cluster.js';
import { playStory } from './story.js';

const kinds = [App, Foo];
type Operator = Awaited<ReturnType<typeof startOperator>>;

interface Parts {
  readonly place: Place;
  readonly client: Client;
  readonly operator: Operator;
  readonly signal: AbortSignal;
}

async function open(options: readonly string[]): Promise<Place | undefined> {
  if (!options.includes('--cluster')) return sandbox(kinds);
  return realCluster(kinds, options.includes('--yes') ? { agrees: async () => true } : {});
}

async function listObjects(client: Client) {
  const [apps, all, deployments, pods] = await Promise.all([
    client.list(App, { namespace }),
    client.list(Foo, { namespace }),
    client.list(Deployment, { namespace }),
    client.list(Pod, { namespace }),
  ]);
  return [...apps.items, ...all.items, ...deployments.items, ...pods.items].map(objectLine);
}

/** Repeats a task until the signal aborts, whether it fails or not. */
async function repeat(task: () => Promise<void> | void, everyMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await Promise.resolve(task()).catch(() => undefined);
    await systemClock.sleep(everyMs, { signal }).catch(() => undefined);
  }
}

/** On a terminal: the view of `riata top`, with the chapter and the objects beside it, until q or Ctrl-C. */
async function showStory({ place, client, operator, signal }: Parts): Promise<void> {
  const end = new AbortController();
  const either = AbortSignal.any([signal, end.signal]);
  let chapter = 'Ready';
  let lines: Awaited<ReturnType<typeof listObjects>> = [];
  const listing = repeat(
    async () => {
      lines = await listObjects(client);
    },
    200,
    either,
  );
  const runtime = resolveRuntime({ log: silentLogger });
  await using followed = await followUrl(operator.url, { runtime, signal });
  const kubectl = `kubectl get apps,foos,deployments,pods -n ${namespace}`;
  const viewing = showLive({
    ...{ name: `Riata on ${place.name}`, followed, clock: systemClock, signal: either },
    terminal: { input: process.stdin, output: process.stdout, columns: process.stdout.columns },
    colors: process.env.NO_COLOR === undefined,
    surroundings: () => ({
      banner: `▸ ${chapter}`,
      section: { heading: 'OBJECT', lines },
      hints: [place.kubectl, kubectl],
    }),
  }).finally(() => end.abort());
  const begin = (title: string) => {
    chapter = title;
  };
  try {
    await playStory(client, { begin, pauseMs: 3000, signal: either });
    begin('Your turn: change something with kubectl and watch');
    await viewing;
  } catch (error) {
    // By q or Ctrl-C in the middle of the story.
    if (!either.aborted) throw error;
  } finally {
    end.abort();
    await Promise.all([viewing, listing]);
  }
}

/** Without a terminal: a line for each reconcile that wrote or failed, and the objects at the end. */
async function logStory({ client, operator, signal }: Omit<Parts, 'place'>): Promise<void> {
  const end = new AbortController();
  const printed = new Set<string>();
  const show = () => {
    const records = operator.explain().filter(({ writes, error }) => writes.length > 0 || error !== undefined);
    for (const record of records.sort((a, b) => a.startedAt - b.startedAt)) {
      if (printed.has(record.reconcileID)) continue;
      printed.add(record.reconcileID);
      console.log(`  ${reconcileLine(record)}`);
    }
  };
  const showing = repeat(show, 50, AbortSignal.any([signal, end.signal]));
  try {
    const begin = (title: string) => console.log(`\n${title}`);
    await playStory(client, { begin, signal, pauseMs: 100, patienceMs: 300_000 });
    show();
    for (const { mark, text } of await listObjects(client)) console.log(`  ${mark} ${text.trimEnd()}`);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    end.abort();
    await showing;
  }
}

async function main(options: readonly string[]): Promise<void> {
  await using place = await open(options);
  if (place === undefined) return;
  using signals = signalHandler();
  await using client = createClient(place.config, { runtime: { log: silentLogger } });
  await using operator = await startOperator(place.config);
  const parts = { place, client, operator, signal: signals.signal };
  try {
    await (process.stdout.isTTY === true ? showStory(parts) : logStory(parts));
  } finally {
    await place.cleanUp();
  }
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
