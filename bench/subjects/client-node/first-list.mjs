// first-list.mjs <kubeconfig>: from the start of the process to ten Pods.
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { cpuMs, peakMb, report } from '../probe.mjs';

const config = new KubeConfig();
config.loadFromFile(process.argv[2]);
const { items } = await config.makeApiClient(CoreV1Api).listNamespacedPod({ namespace: 'default' });
report({ count: items.length, cpuMs: cpuMs(), peakMb: peakMb(), wallMs: performance.now() });
