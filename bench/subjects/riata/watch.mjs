// watch.mjs <kubeconfig> each|push full|cut: events until the server ends the watch.
import { createClient, loadConfig } from 'riata';
import { Pod } from 'riata/kinds';
import { EventMeter } from '../event-meter.mjs';

const [kubeconfig, how, fields] = process.argv.slice(2);
const client = createClient(await loadConfig({ path: kubeconfig }));
const meter = new EventMeter();
const watch = await client.watch(Pod, { cutManagedFields: fields === 'cut' });
if (how === 'each') for await (const event of watch) meter.count(event);
else {
  await new Promise((resolve, reject) => {
    watch.consume({
      onEvent: (event) => meter.count(event),
      onEnd: (error) => (error === undefined ? resolve() : reject(error)),
    });
  });
}
meter.report();
