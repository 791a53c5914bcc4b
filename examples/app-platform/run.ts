// Runs the platform on the cluster that your kubeconfig names, or in the cluster; until SIGTERM or Ctrl-C.
import { loadConfig, signalHandler } from 'riata';
import { Controllers } from 'riata/patterns';
import { runApps } from './main.js';

using signals = signalHandler();
await using controllers = await Controllers.fromConfig(await loadConfig());
runApps(controllers, signals);
await controllers.run(signals);
