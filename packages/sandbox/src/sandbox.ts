import { ApiServer, type ListenOptions } from '@riata/apiserver';
import { type ConnectedClient, createClient, Manager, type RestConfig } from 'riata';
import type { ReconcileRecord } from 'riata/controller';
import { Pod } from 'riata/kinds';
import type { Clock, Logger, Random, Scheduler } from 'riata/runtime';
import { optionNames, refuseUnknownOptions, silentLogger, systemClock } from 'riata/runtime';
import type { MetricValues } from './autoscaling/metrics.js';
import {
  clusterControllers,
  nodeControllers,
  type ProviderOptions,
  providerControllers,
  providerOptionNames,
  workloadControllers,
} from './controllers.js';
import type { PodFate } from './node/kubelet.js';
import { makeNodes } from './node/nodes.js';
import { PodLogs } from './node/pod-logs.js';
import { type ContainerScripts, scriptedContainers } from './node/scripted-containers.js';
import { standardClass } from './storage/provisioner.js';

/** Options of `Sandbox.start`. */
export interface SandboxOptions extends ContainerScripts {
  /** How many nodes there are. @default 3 */
  readonly nodes?: number;
  /**
   * The fate of a Pod: delays, crashes, failing probes. @default it runs and is ready at once; one that does not
   * restart completes
   */
  readonly fate?: (pod: Pod) => PodFate | undefined;
  /**
   * The usage of a Pod, for HorizontalPodAutoscalers: `(pod) => ({ cpu: '250m', memory: '64Mi' })`.
   *
   * @default the Pod's annotation `sandbox.riata.dev/metrics`, as JSON
   */
  readonly metrics?: (pod: Pod) => MetricValues | undefined;
  /** Options of the simulated cloud provider. @default it serves everything */
  readonly provider?: ProviderOptions;
  /** The clock of the whole sandbox. @default the machine's clock */
  readonly clock?: Scheduler & Clock;
  readonly random?: Random;
  /** @default none */
  readonly log?: Logger;
  /** The token of requests over HTTP(S). @default a new one */
  readonly token?: string;
}

export const sandboxOptionNames = optionNames<SandboxOptions>({
  nodes: true,
  fate: true,
  metrics: true,
  provider: true,
  clock: true,
  random: true,
  log: true,
  token: true,
  exec: true,
  attach: true,
  connect: true,
  http: true,
});

/**
 * A working Kubernetes cluster without nodes, in this process: the embedded API server, the controllers of workloads, a
 * scheduler, and a kubelet that pretends to run Pods.
 *
 * @example
 * await using sandbox = await Sandbox.start({ nodes: 3 });
 * await sandbox.client.create(Deployment({ … }));
 */
export class Sandbox implements AsyncDisposable {
  readonly server: ApiServer;
  /** Reaches the server without a socket. */
  readonly client: ConnectedClient;
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>;
  readonly #manager: Manager;
  readonly #logs: PodLogs;
  #ended: Promise<void> | undefined;

  /** Starts it. Nodes are there and controllers run when this resolves. */
  static async start(options: SandboxOptions = {}): Promise<Sandbox> {
    refuseUnknownOptions('Sandbox.start', options, sandboxOptionNames);
    refuseUnknownOptions('Sandbox.start: provider', options.provider, providerOptionNames);
    const { nodes = 3, clock = systemClock, random, log = silentLogger, token } = options;
    if (!Number.isInteger(nodes) || nodes < 0) throw new TypeError(`nodes: expected a whole number, got ${nodes}`);
    const chosen = { ...(random && { random }), ...(token && { token }) };
    const logs = new PodLogs(clock);
    const containers = scriptedContainers(options, logs);
    const server = await ApiServer.start({ clock, log, scheduler: true, containers, ...chosen });
    const runtime = { clock, log, ...(random && { random }) };
    const client = createClient(server.config, { runtime });
    try {
      await makeNodes(client, nodes, { clock });
      await client.create(standardClass);
      const manager = new Manager({ config: server.connect({ name: 'sandbox' }), loopMonitor: false, runtime });
      const all = [
        ...workloadControllers(),
        ...clusterControllers({ authority: server.authority, ...(options.metrics && { metrics: options.metrics }) }),
        ...providerControllers(options.provider),
        ...nodeControllers({ ...(options.fate && { fate: options.fate }), logs }),
      ];
      for (const definition of all) manager.add(definition);
      const sandbox = new Sandbox(server, client, manager, logs);
      await manager.elected;
      return sandbox;
    } catch (error) {
      await client.close();
      await server.stop();
      throw error;
    }
  }

  private constructor(server: ApiServer, client: ConnectedClient, manager: Manager, logs: PodLogs) {
    this.#logs = logs;
    this.server = server;
    this.client = client;
    this.#manager = manager;
    this.#running = manager.run({ signal: this.#stop.signal });
  }

  /** For your own clients and managers in this process. */
  get config(): RestConfig {
    return this.server.config;
  }

  /** Recent reconciles of its controllers, and their causes. Oldest first. */
  get explain(): readonly ReconcileRecord[] {
    return this.#manager.explain;
  }

  /**
   * Adds lines to the log of a container, which `kubectl logs` and `client.logs` read.
   *
   * @param container @default the Pod's first one
   */
  async writeLog(pod: { readonly namespace: string; readonly name: string }, text: string, container?: string) {
    const found = await this.client.get(Pod, pod);
    this.#logs.write(found, container ?? found.spec.containers[0]?.name ?? '', text);
  }

  /** Serves it over HTTPS, for kubectl and other programs. */
  listen(options: ListenOptions = {}) {
    return this.server.listen(options);
  }

  /** Ends all of it, once. */
  stop(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#manager[Symbol.asyncDispose]();
    await this.client.close();
    await this.server.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
