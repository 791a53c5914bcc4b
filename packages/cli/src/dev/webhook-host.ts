import { BlockList } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';

/** What {@link webhookHost} decides by. */
export interface WebhookHostParts {
  /** The context of the kubeconfig. */
  readonly context: string | undefined;
  /** The URL of the API server. */
  readonly server: string;
  /** Addresses of the cluster's nodes. */
  readonly nodeAddresses: readonly string[];
  /** Those of this machine, as `os.networkInterfaces` gives them. */
  readonly interfaces: Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;
}

/** Clusters in containers of Docker Desktop and the like: a name leads from there to the machine around. */
const inContainers = /^(?:kind-|k3d-|docker-desktop$|rancher-desktop$|orbstack$|colima)/;

/**
 * The name or address by which the nodes of a cluster reach this machine; undefined if that is not known. An address of this
 * machine in the network of a node is one: so it is for kind, k3d and minikube on Linux. Where a virtual machine is in
 * between, the tools give the machine around a name.
 */
export function webhookHost({ context = '', server, nodeAddresses, interfaces }: WebhookHostParts): string | undefined {
  for (const own of Object.values(interfaces).flatMap((each) => each ?? [])) {
    if (own.internal || own.cidr === null) continue;
    const [network = '', prefix = ''] = own.cidr.split('/');
    const family = own.family === 'IPv6' ? 'ipv6' : 'ipv4';
    const neighbours = new BlockList();
    neighbours.addSubnet(network, Number(prefix), family);
    if (nodeAddresses.some((address) => neighbours.check(address, address.includes(':') ? 'ipv6' : 'ipv4'))) {
      return own.address;
    }
  }
  if (context === 'minikube' || /^https:\/\/192\.168\.(?:39|49|64)\./.test(server)) return 'host.minikube.internal';
  return inContainers.test(context) ? 'host.docker.internal' : undefined;
}
