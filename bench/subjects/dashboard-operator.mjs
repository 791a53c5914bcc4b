// dashboard-operator.mjs <server>: an operator with a dashboard that reconciles ConfigMaps, until its stdin ends. It prints
// the address when every object was reconciled once.
import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { Manager } from 'riata/manager';
import { silentLogger } from 'riata/runtime';

const [server, objects] = process.argv.slice(2);
let reconciles = 0;
const maps = control(ConfigMap, { name: 'maps', concurrency: 10 }).reconcile(() => {
  reconciles += 1;
});
const manager = await Manager.create({
  config: { server },
  runtime: { log: silentLogger },
  dashboard: { port: 0 },
});
manager.add(maps);
void manager.run(new AbortController());
while (reconciles < Number(objects)) await new Promise((resolve) => setTimeout(resolve, 100));
console.log(manager.urls.dashboard);
process.stdin.resume().on('end', () => process.exit());
