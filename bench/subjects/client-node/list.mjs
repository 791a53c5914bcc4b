// list.mjs <kubeconfig>: all Pods, as the generated API gives them.
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { cpuMs, LoopProbe, peakMb, report, rssMb } from '../probe.mjs';

const config = new KubeConfig();
config.loadFromFile(process.argv[2]);
const api = config.makeApiClient(CoreV1Api);

// Loads what the first request loads, which is measured by first-list.mjs.
await api.listNamespacedPod({ namespace: 'default' });

const probe = new LoopProbe().start();
const cpu = process.cpuUsage();
const begin = performance.now();
const { items } = await api.listPodForAllNamespaces();
const wallMs = performance.now() - begin;
const used = cpuMs(cpu);
// One more turn of the event loop, so that the last block counts.
await new Promise((resolve) => setTimeout(resolve, 5));
report({ count: items.length, cpuMs: used, wallMs, peakMb: peakMb(), rssMb: rssMb(), ...probe.stop() });
