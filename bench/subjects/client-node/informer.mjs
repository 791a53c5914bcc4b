// informer.mjs <server> <events>: an informer of Pods until so many events have come.
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { InformerMeter } from '../informer-meter.mjs';

const [server, events] = process.argv.slice(2);
const meter = new InformerMeter(Number(events));
const config = new KubeConfig();
// It refuses plain HTTP otherwise.
config.loadFromClusterAndUser({ name: 'bench', server, skipTLSVerify: true }, { name: 'bench' });
const api = config.makeApiClient(CoreV1Api);
const informer = makeInformer(config, '/api/v1/pods', () => api.listPodForAllNamespaces());
const take = ({ metadata, spec }) => meter.take(metadata.name, spec.nodeName);
informer.on('add', take);
informer.on('update', (pod) => {
  take(pod);
  meter.event();
});
// Loads what the first request loads, which is measured by first-list.mjs.
await api.listNamespacedPod({ namespace: 'default' });
await meter.begin();
await informer.start();
await meter.synced(() => informer.list().length);
