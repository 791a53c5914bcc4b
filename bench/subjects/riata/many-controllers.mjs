// many-controllers.mjs <server> <events> <controllers>: so many controllers of Pods in one manager, whose reconcilers read
// their object and write nothing, until each has reconciled every Pod, and then until each has reconciled every change.
import { control } from 'riata/controller';
import { Pod } from 'riata/kinds';
import { Manager } from 'riata/manager';
import { silentLogger } from 'riata/runtime';
import { cpuMs, LoopProbe, peakMb } from '../probe.mjs';

const [server, events, count] = process.argv.slice(2);
const controllers = Number(count);
const say = (figures) => process.stdout.write(`${JSON.stringify(figures)}\n`);
const turn = () => new Promise((resolve) => setTimeout(resolve, 20));

let reconciles = 0;
let awaited = { at: Number.POSITIVE_INFINITY, resolve: () => {} };
const untilReconciled = (at) =>
  new Promise((resolve) => {
    awaited = { at, resolve };
    if (reconciles >= at) resolve();
  });

await using manager = await Manager.create({ config: { server }, runtime: { log: silentLogger } });
const names = new Set();
for (let at = 0; at < controllers; at++) {
  manager.add(
    control(Pod, { name: `pods-${at}` }).reconcile(({ object }) => {
      if (at === 0) names.add(object.metadata.name);
      reconciles += 1;
      if (reconciles === awaited.at) awaited.resolve();
    }),
  );
}
// Loads what the first request loads.
await manager.client.list(Pod, { namespace: 'default' });
await turn();
const objects = Number(/\/(\d+)$/.exec(server)[1]);

/** Block and CPU until so many reconciles are done. */
async function measured(untilMany) {
  const probe = new LoopProbe().start();
  const from = process.cpuUsage();
  await untilReconciled(untilMany);
  const cpu = cpuMs(from);
  await turn(); // one more, so that the last block counts
  return { cpuMs: cpu, peakMb: peakMb(), heapBytes: 0, ...probe.stop() };
}

void manager.run({ signal: new AbortController().signal });
const sync = await measured(objects * controllers);
say({ objects: names.size, ...sync });
const watch = await measured((objects + Number(events)) * controllers);
say({ events: (reconciles - objects * controllers) / controllers, ...watch });
process.exit(0);
