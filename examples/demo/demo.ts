// `npm run demo`: a cluster in this process, two controllers on it, and a view of what they do. Until Ctrl-C.
import { createClient, Manager, signalHandler, silentLogger, systemClock } from 'riata';
import { Deployment, Pod } from 'riata/kinds';
import { Controllers, installCrds, summarize } from 'riata/patterns';
import { App } from '../app-platform/app.js';
import { runApps } from '../app-platform/main.js';
import { Foo, foos } from '../sample-controller/main.js';
import { realCluster, sandbox } from './place.js';
import { tell } from './story.js';
import { describe, draw, type ObjectLine, type Scene } from './view.js';

const isLive = process.stdout.isTTY === true;
const place = process.argv.includes('--cluster') ? await realCluster(['App', 'Foo']) : await sandbox();
if (place === undefined) process.exit(0);

using signals = signalHandler();
const stop = new AbortController();
signals.signal.addEventListener('abort', () => stop.abort());
const { signal } = stop;
const runtime = { log: silentLogger };
await using client = createClient(place.config, { runtime });
await installCrds(client, [App.crd(), Foo.crd()], { signal });
await using manager = await Manager.create({ config: place.config, runtime });
manager.add(foos);
await using controllers = await Controllers.fromConfig(place.config, { runtime });
runApps(controllers, { signal });
const running = [manager.run({ signal }), controllers.run({ signal })];

let chapter = 'All is ready';
const told = new Set<string>();
const hints = [`${place.kubectl}`, 'kubectl get apps,foos,deployments,pods -n riata-demo · Ctrl-C ends it all'];
const records = () =>
  [...manager.explain, ...place.explain()]
    .filter(({ writes, error }) => writes.length > 0 || error !== undefined)
    .sort((a, b) => a.startedAt - b.startedAt);

async function objects(): Promise<ObjectLine[]> {
  const namespace = 'riata-demo';
  const [apps, all, deployments, pods] = await Promise.all([
    client.list(App, { namespace }),
    client.list(Foo, { namespace }),
    client.list(Deployment, { namespace }),
    client.list(Pod, { namespace }),
  ]);
  return [...apps.items, ...all.items, ...deployments.items, ...pods.items].map((object) => {
    const { state, error: failed, transitioning, message } = summarize(object);
    const detail = message.join(', ') || (object.kind === 'Pod' ? ((object as Pod).spec?.nodeName ?? '') : '');
    return {
      kind: object.kind ?? '',
      name: object.metadata.name,
      state: failed || transitioning ? state : 'ready',
      failed,
      detail,
    };
  });
}

async function scene(): Promise<Scene> {
  return { title: `Riata on ${place?.name}`, chapter, objects: await objects(), records: records(), hints };
}

async function show(): Promise<void> {
  if (!isLive) {
    for (const record of records().filter(({ reconcileID }) => !told.has(reconcileID))) {
      told.add(record.reconcileID);
      console.log(`  ${describe(record)}`);
    }
    return;
  }
  const { columns = 80, rows = 24 } = process.stdout;
  const lines = draw(await scene(), columns, rows);
  process.stdout.write(`\x1b[H${lines.map((line) => `${line}\x1b[K`).join('\n')}\x1b[J`);
}

async function watchIt(): Promise<void> {
  while (!signal.aborted) {
    await show().catch(() => undefined);
    await systemClock.sleep(isLive ? 200 : 50);
  }
}

if (isLive) process.stdout.write('\x1b[?1049h\x1b[?25l');
try {
  const watching = watchIt();
  const begin = (title: string) => {
    chapter = title;
    if (!isLive) console.log(`\n${title}`);
  };
  await tell(client, begin, isLive ? 3000 : 100);
  begin('Your turn: change something with kubectl, and watch');
  if (!isLive) {
    await show();
    for (const object of await objects()) console.log(`  now: ${object.kind} ${object.name}: ${object.state}`);
    stop.abort();
  }
  await watching;
} finally {
  if (isLive) process.stdout.write('\x1b[?1049l\x1b[?25h');
  stop.abort();
  await Promise.all(running);
  await place[Symbol.asyncDispose]();
}
