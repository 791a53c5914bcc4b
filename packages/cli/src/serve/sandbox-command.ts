import { sandboxCommand as server } from '@riata/sandbox/sandbox-command';
import { serveCommand } from './serve-command.js';

const example = `
Example: riata sandbox --port 0 --kubeconfig sandbox.yaml --nodes 5`;

/** `riata sandbox`: a cluster without nodes, for kubectl and programs in any language. */
export const sandboxCommand = serveCommand('sandbox', server, 'Runs a Kubernetes cluster without nodes.', example);
