// Runs the tour on an embedded server, or, with --cluster, on the cluster of your kubeconfig.
import { ApiServer } from '@riata/apiserver';
import { loadConfig } from 'riata';
import { tour } from './main.js';

if (process.argv.includes('--cluster')) {
  await tour(await loadConfig(), console.log);
} else {
  await using server = await ApiServer.start();
  await tour(server.config, console.log);
}
