// Restarts the frontend when a ConfigMap changes, on the cluster that your kubeconfig names: run.ts [namespace] [name].
import { loadConfig, signalHandler } from 'riata';
import { ConfigMap } from 'riata/kinds';
import { SharedControllerFactory, sharedKind } from 'riata/shared';
import { restartFrontends } from './main.js';

const [namespace = 'default', name = 'frontend'] = process.argv.slice(2);
// Watches only this ConfigMap.
const cache = { namespaces: [namespace], fieldSelector: { 'metadata.name': name } };
const kinds = [sharedKind(ConfigMap, { cache })];
using signals = signalHandler();
await using factory = await SharedControllerFactory.fromConfig(await loadConfig(), { kinds });
restartFrontends(factory, { namespace, name }, signals);
await factory.run(signals);
