// list.mjs <kubeconfig> each|push|list full|cut count|keep [again]: all Pods through the list stream; `again` measures the
// second time.
import { createClient, loadConfig } from 'riata';
import { Pod } from 'riata/kinds';
import { cpuMs, LoopProbe, peakMb, report, rssMb } from '../probe.mjs';

const [kubeconfig, how, fields, what, which] = process.argv.slice(2);
const client = createClient(await loadConfig({ path: kubeconfig }));
const cutManagedFields = fields === 'cut';
const kept = [];
let count = 0;
const take = (pod) => {
  if (pod.metadata.name !== '') count++;
  if (what === 'keep') kept.push(pod);
};

// Loads what the first request loads, which is measured by first-list.mjs.
await client.list(Pod, { namespace: 'default' });

const listAll = async () => {
  if (how === 'list') for (const pod of (await client.list(Pod, { cutManagedFields })).items) take(pod);
  else if (how === 'each') for await (const pod of client.each(Pod, { cutManagedFields })) take(pod);
  else await (await client.run({ verb: 'list', kind: Pod, params: {}, cutManagedFields })).consume(take);
};
if (which === 'again') await listAll();
count = 0;

const probe = new LoopProbe().start();
const cpu = process.cpuUsage();
const begin = performance.now();
await listAll();
const wallMs = performance.now() - begin;
const used = cpuMs(cpu);
report({ count, cpuMs: used, wallMs, peakMb: peakMb(), rssMb: rssMb(), ...probe.stop() });
