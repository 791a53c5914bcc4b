// Runs the tour on a server of its own, or, with --cluster, on the one that your kubeconfig names.
import { ApiServer } from '@riata/apiserver';
import { loadConfig } from 'riata';
import { tour } from './main.js';

if (process.argv.includes('--cluster')) {
  await tour(await loadConfig(), console.log);
} else {
  await using server = await ApiServer.start();
  await tour(server.config, console.log);
}
