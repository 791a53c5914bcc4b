// Watches the ConfigMaps of a namespace on the cluster that your kubeconfig names; until Ctrl-C.
import { createClient, loadConfig, signalHandler } from 'riata';
import { watchConfigMaps } from './main.js';

const [namespace = 'default'] = process.argv.slice(2);
using signals = signalHandler();
await using client = createClient(await loadConfig());
await watchConfigMaps(client, console.log, { namespace, signal: signals.signal });
