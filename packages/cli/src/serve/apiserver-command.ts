import { apiServerCommand as server } from '@riata/apiserver/api-server-command';
import { serveCommand } from './serve-command.js';

const example = `
Example: riata apiserver --port 0 --kubeconfig server.yaml --data-dir ./data`;

/** `riata apiserver`: the embedded API server, for kubectl and programs in any language. */
export const apiserverCommand = serveCommand('apiserver', server, 'Runs a Kubernetes API server.', example);
