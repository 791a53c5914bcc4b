import type { JsonObject } from 'riata/object';
import { metaOf, numberOf, textOf } from '../../resource/metadata.js';
import { invalid } from '../../status/field-error.js';
import { internal, invalidObject, Refusal } from '../../status/refusal.js';
import { contains, parseCidr, parseIp } from '../checks/ip-address.js';
import type { PrepareContext } from '../kind-rules.js';
import {
  clusterIpsOf,
  isExternalName,
  isHeadless,
  needsHealthCheck,
  nodePortsOf,
  portsOf,
  type ServiceSpec,
  specOf,
} from './service-parts.js';

/** As the control plane of the tests has it, and as the Service of the API server itself expects. */
const range = { cidr: '10.0.0.0/24', network: '10.0.0', last: 254, firstByItself: 17 } as const;
const nodePorts = { first: 30_000, last: 32_767, firstByItself: 30_086 } as const;
const kind = { group: '', kind: 'Service', plural: 'services' } as const;

/**
 * Allocates addresses and ports that no other Service has: the lowest free ones, beyond those reserved for explicit
 * requests.
 */
export class ServiceAllocation {
  readonly #name: string;
  /** Of all Services; those of this one are not allocated again either. */
  readonly #all: readonly ServiceSpec[];
  /** All addresses in use, by Services or not. */
  readonly #addresses: () => ReadonlySet<string>;
  readonly #dryRun: boolean;
  /** Ports that this Service has got so far. */
  readonly #ports = new Set<number>();
  #used: ReadonlySet<number> | undefined;

  constructor(service: JsonObject, { objects, dryRun }: PrepareContext) {
    this.#name = textOf(metaOf(service).name);
    this.#dryRun = dryRun;
    this.#all = objects('/services').map((one) => specOf(one as unknown as JsonObject));
    this.#addresses = () =>
      new Set([
        ...this.#all.flatMap(clusterIpsOf),
        ...objects('networking.k8s.io/ipaddresses').map(({ metadata }) => metadata.name),
      ]);
  }

  /** The requested address, or any. */
  fillClusterIps(spec: ServiceSpec): void {
    if (isExternalName(spec) || isHeadless(spec)) return;
    const [asked] = clusterIpsOf(spec);
    const ip = asked ?? this.#anyIp();
    if (asked !== undefined) this.#takeIp(asked, spec);
    spec.clusterIP = ip;
    spec.clusterIPs = [ip];
  }

  #takeIp(ip: string, spec: ServiceSpec): void {
    const refuse = (why: string) =>
      this.#invalid('spec.clusterIPs', clusterIpsOf(spec), `failed to allocate IP ${ip}: ${why}`);
    const [address, network] = [parseIp(ip), parseCidr(range.cidr)];
    const last = address?.bytes[3] ?? 0;
    if (
      address === undefined ||
      network === undefined ||
      !contains(network, address) ||
      last < 1 ||
      last > range.last
    ) {
      throw refuse('the provided network does not match the current range');
    }
    if (!this.#dryRun && this.#addresses().has(ip)) throw refuse('provided IP is already allocated');
  }

  #anyIp(): string {
    // A dry run allocates nothing.
    if (this.#dryRun) return `${range.network}.0`;
    const taken = this.#addresses();
    const count = range.last;
    for (let i = 0; i < count; i++) {
      const ip = `${range.network}.${((range.firstByItself - 1 + i) % count) + 1}`;
      if (!taken.has(ip)) return ip;
    }
    throw internal(`failed to allocate a serviceIP for Service ${JSON.stringify(this.#name)}: range is full`);
  }

  /** A port of the nodes for each port of a new Service; ports of one number, e.g. for TCP and UDP, share it. */
  fillNodePorts(spec: ServiceSpec): void {
    const byPort = new Map<number, number>();
    const ports = portsOf(spec);
    spec.ports = ports.map((one, i) => {
      const [port, asked] = [numberOf(one.port), numberOf(one.nodePort)];
      if (asked === 0 && !allocates(spec)) return one;
      const shared = byPort.get(port);
      if (shared !== undefined && (asked === 0 || asked === shared)) return { ...one, nodePort: shared };
      if (shared !== undefined) {
        this.#takePort(asked, i);
        return one;
      }
      const expected = numberOf(ports.find((p) => numberOf(p.port) === port && numberOf(p.nodePort) !== 0)?.nodePort);
      if (expected !== 0) this.#takePort(expected, i);
      const nodePort = expected === 0 ? this.#anyPort() : expected;
      byPort.set(port, nodePort);
      return { ...one, nodePort };
    });
  }

  /** The same for a changed one, which keeps what it has. */
  updateNodePorts(spec: ServiceSpec, before: ServiceSpec): void {
    const own = nodePortsOf(before);
    const seen = new Set<string>();
    spec.ports = portsOf(spec).map((one, i) => {
      const asked = numberOf(one.nodePort);
      if (asked === 0 && !allocates(spec)) return one;
      if (asked !== 0 && !own.includes(asked) && !this.#ports.has(asked)) this.#takePort(asked, i);
      const nodePort = asked === 0 ? this.#anyPort() : asked;
      const id = `{${textOf(one.protocol)} ${nodePort}}`;
      if (seen.has(id)) throw new Refusal(500, '', `duplicate nodePort: ${id}`);
      seen.add(id);
      return { ...one, nodePort };
    });
  }

  fillHealthCheckPort(spec: ServiceSpec): void {
    if (!needsHealthCheck(spec)) return;
    const asked = numberOf(spec.healthCheckNodePort);
    const problem = asked === 0 ? undefined : this.#portProblem(asked);
    if (problem !== undefined) throw internal(`failed to allocate requested HealthCheck NodePort ${asked}: ${problem}`);
    spec.healthCheckNodePort = asked === 0 ? this.#anyPort() : asked;
    this.#ports.add(asked);
  }

  #takePort(port: number, index: number): void {
    const problem = this.#portProblem(port);
    if (problem !== undefined) throw this.#invalid(`spec.ports[${index}].nodePort`, port, problem);
    this.#ports.add(port);
  }

  #portProblem(port: number): string | undefined {
    if ((port < nodePorts.first || port > nodePorts.last) && !this.#dryRun) {
      const valid = `${nodePorts.first}-${nodePorts.last}`;
      return `provided port is not in the valid range. The range of valid ports is ${valid}`;
    }
    return this.#usedPorts().has(port) || this.#ports.has(port) ? 'provided port is already allocated' : undefined;
  }

  #anyPort(): number {
    // A dry run allocates nothing.
    if (this.#dryRun) return this.#keep(Math.max(nodePorts.last + 1, ...this.#ports) + 1);
    const count = nodePorts.last - nodePorts.first + 1;
    for (let i = 0; i < count; i++) {
      const port = nodePorts.first + ((nodePorts.firstByItself - nodePorts.first + i) % count);
      if (!this.#usedPorts().has(port) && !this.#ports.has(port)) return this.#keep(port);
    }
    throw internal('failed to allocate a nodePort: range is full');
  }

  #keep(port: number): number {
    this.#ports.add(port);
    return port;
  }

  #usedPorts(): ReadonlySet<number> {
    this.#used ??= new Set(this.#all.flatMap((o) => [...nodePortsOf(o), numberOf(o.healthCheckNodePort)]));
    return this.#used;
  }

  #invalid(path: string, value: unknown, detail: string): Refusal {
    return invalidObject(kind, this.#name, [invalid(path, value, detail)]);
  }
}

/** Whether node ports are allocated, or used only where they are requested. */
function allocates({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean {
  return type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false);
}
