import type { OwnOption, ServerCommand } from '@riata/apiserver/server-command';

const options = {
  nodes: { written: '--nodes COUNT', help: 'how many nodes there are (default 3)', default: 3, most: 5000 },
} satisfies Readonly<Record<string, OwnOption>>;

/** The command that runs a cluster without nodes; `riata-sandbox` and `riata sandbox`. */
export const sandboxCommand: ServerCommand<typeof options> = {
  name: 'riata-sandbox',
  about: `Runs a Kubernetes cluster without nodes: an API server that keeps its objects in memory, the controllers of workloads, a
scheduler, and a kubelet that pretends to run Pods.`,
  options,
  async start({ token, nodes }) {
    const { Sandbox } = await import('./index.js');
    const sandbox = await Sandbox.start({ nodes, ...(token && { token }) });
    return {
      token: sandbox.server.token,
      listen: (options) => sandbox.listen(options),
      stop: () => sandbox.stop(),
    };
  },
};
