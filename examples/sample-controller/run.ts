// Runs the controller on the cluster that your kubeconfig names, or in the cluster; until SIGTERM or Ctrl-C.
import { run } from 'riata';
import { foos } from './main.js';

await run(foos);
