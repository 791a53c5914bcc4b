import { Pod } from '../../kinds/generated/groups/core/v1.js';
import type { KubeClient } from '../kube-client.js';
import { Forward, type ForwardOptions } from './forward.js';
import { type ForwardTarget, resolveTarget } from './forward-target.js';
import { forwardProtocols, PortTunnel } from './port-tunnel.js';

/** Starts a port-forward of a client. */
export function startForward(client: KubeClient, target: ForwardTarget, options: ForwardOptions): Promise<Forward> {
  const { signal, maxRetries, span } = options;
  const call = { signal, maxRetries, span };
  const reader = {
    get: client.get.bind(client) as never,
    list: client.list.bind(client) as never,
  };
  return Forward.start(
    {
      what: `${target.kind?.kind ?? 'Pod'} ${target.name}`,
      resolve: () => resolveTarget(target, reader),
      open: async ({ namespace, name }, onEnd) => {
        const at = { kind: Pod, namespace, name, subresource: 'portforward' };
        const socket = await client.run({ verb: 'stream', ...at, params: {}, protocols: forwardProtocols, ...call });
        return new PortTunnel(socket, onEnd);
      },
    },
    options,
  );
}
