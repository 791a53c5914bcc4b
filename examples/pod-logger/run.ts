// Logs the nodes of the Pods of the cluster that your kubeconfig names; until Ctrl-C.
import { consoleLogger, createClient, loadConfig, signalHandler } from 'riata';
import { logPods } from './main.js';

using signals = signalHandler();
await using client = createClient(await loadConfig());
await logPods(client, { log: consoleLogger(), signal: signals.signal });
