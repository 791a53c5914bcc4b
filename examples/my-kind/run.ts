// Runs the operator on the cluster that your kubeconfig names, or in the cluster; until SIGTERM or Ctrl-C.
import { run } from 'riata';
import { cache, sharedSettings } from './main.js';

await run(sharedSettings, { cache });
