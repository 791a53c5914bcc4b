// watch.mjs <kubeconfig>: events until the server ends the watch.
import { KubeConfig, Watch } from '@kubernetes/client-node';
import { EventMeter } from '../event-meter.mjs';

const config = new KubeConfig();
config.loadFromFile(process.argv[2]);
const meter = new EventMeter();
await new Promise((resolve, reject) => {
  const onEvent = (type, object) => meter.count({ type, object });
  const onDone = (error) => (error ? reject(error) : resolve());
  new Watch(config).watch('/api/v1/pods', {}, onEvent, onDone).catch(reject);
});
meter.report();
