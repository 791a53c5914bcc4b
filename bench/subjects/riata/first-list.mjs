// first-list.mjs <kubeconfig>: from the start of the process to ten Pods.
import { createClient, loadConfig } from 'riata';
import { Pod } from 'riata/kinds';
import { cpuMs, peakMb, report } from '../probe.mjs';

const client = createClient(await loadConfig({ path: process.argv[2] }));
const { items } = await client.list(Pod, { namespace: 'default' });
report({ count: items.length, cpuMs: cpuMs(), peakMb: peakMb(), wallMs: performance.now() });
