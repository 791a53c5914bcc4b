import { type ConnectedClient, createClient, isNotFound, type RestConfig } from 'riata';
import { Deployment, Pod, ServiceAccount } from 'riata/kinds';
import { selectorFrom } from 'riata/object';
import { describeError, silentLogger } from 'riata/runtime';
import { type ClusterOptions, clusterConfig } from '../command/cluster-options.js';
import { CommandError } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import type { Operator } from '../config/resolve-operator.js';

/** A port of a Pod on this machine. Dispose it to stop. */
export interface PodForward extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, or `https://…` for a port that speaks TLS. */
  readonly url: string;
  /** Why the last connection failed in the cluster: this side sees only that it ended. Undefined if none failed. */
  problem(): string | undefined;
}

/** Options of {@link OperatorPods.forward}. */
export interface PodForwardOptions {
  /** The port in the Pod. A server that listens on loopback alone is reached, too. */
  readonly port: number;
  readonly isHttps?: boolean;
  /** The port on this machine. @default any that is free */
  readonly local?: number;
}

/** A running Pod. */
export interface FoundPod {
  readonly name: string;
  readonly uid: string;
}

/** The running Pods of a deployed operator, and ways to reach them with the rights of the kubeconfig. */
export class OperatorPods implements AsyncDisposable {
  readonly config: RestConfig;
  readonly client: ConnectedClient;
  readonly namespace: string;
  /** The name of its ServiceAccount. */
  readonly serviceAccount: string;
  readonly #io: CommandIo;
  readonly #operator: Pick<Operator, 'name' | 'namespace'>;
  #found: readonly FoundPod[];
  #token: Promise<string> | undefined;

  /** Finds the Pods by the operator's Deployment. Rejects with a {@link CommandError} if none runs. */
  static async find(
    io: CommandIo,
    options: ClusterOptions,
    operator: Pick<Operator, 'name' | 'namespace'>,
  ): Promise<OperatorPods> {
    const config = await clusterConfig(io, options);
    const client = createClient(config, { runtime: { ...io.runtime, log: silentLogger } });
    try {
      return new OperatorPods(io, operator, { config, client, ...(await findPods(client, operator, io.signal)) });
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  private constructor(
    io: CommandIo,
    operator: Pick<Operator, 'name' | 'namespace'>,
    given: Pick<OperatorPods, 'config' | 'client' | 'found' | 'serviceAccount'>,
  ) {
    this.#io = io;
    this.#operator = operator;
    this.config = given.config;
    this.client = given.client;
    this.namespace = operator.namespace;
    this.#found = given.found;
    this.serviceAccount = given.serviceAccount;
  }

  /** Its running Pods, by name; at least one. */
  get found(): readonly FoundPod[] {
    return this.#found;
  }

  /** The names of its running Pods, sorted; at least one. */
  get names(): readonly string[] {
    return this.#found.map(({ name }) => name);
  }

  /** Looks again which Pods run. Rejects as {@link find} does if none does: then those that ran last stay known. */
  async refresh(): Promise<void> {
    this.#found = (await findPods(this.client, this.#operator, this.#io.signal)).found;
  }

  /** Forwards a port of one of the Pods to this machine, as `kubectl port-forward` does: it needs the right to create pods/portforward. */
  async forward(name: string, { port, isHttps = false, local = 0 }: PodForwardOptions): Promise<PodForward> {
    let problem: string | undefined;
    const forward = await this.client.forward(
      { namespace: this.namespace, name },
      {
        ports: [[local, port]],
        signal: this.#io.signal,
        onError: (error) => {
          problem = describeError(error);
        },
      },
    );
    return {
      url: isHttps ? forward.url.replace('http:', 'https:') : forward.url,
      problem: () => problem,
      [Symbol.asyncDispose]: () => forward.close(),
    };
  }

  /** A short-lived token of the operator's ServiceAccount: the operator learns nothing by it that it does not have. */
  token(): Promise<string> {
    this.#token ??= requestToken(this.client, this.namespace, this.serviceAccount);
    return this.#token;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.client.close();
  }
}

async function findPods(
  client: ConnectedClient,
  { name, namespace }: Pick<Operator, 'name' | 'namespace'>,
  signal: AbortSignal,
) {
  const deployment = await client.get(Deployment, { namespace, name }, { signal }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    throw new CommandError(
      `Deployment ${namespace}/${name} not found; is the operator deployed in this cluster? For one that runs elsewhere, give --url`,
    );
  });
  const labelSelector = selectorFrom(deployment.spec?.selector);
  const { items } = await client.list(Pod, { namespace, labelSelector, signal });
  const found = items
    .filter(({ metadata, status }) => status?.phase === 'Running' && metadata.deletionTimestamp === undefined)
    .map(({ metadata: { name: pod, uid } }): FoundPod => ({ name: pod, uid }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  if (found.length === 0) {
    throw new CommandError(`Deployment ${namespace}/${name} has no running Pod; see: kubectl get pods -n ${namespace}`);
  }
  return { found, serviceAccount: deployment.spec?.template.spec?.serviceAccountName ?? 'default' };
}

async function requestToken(client: ConnectedClient, namespace: string, name: string): Promise<string> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } };
  const answer = await client
    .subresource('token')
    .create<{ readonly status: { readonly token: string } }>(ServiceAccount, { namespace, name }, body);
  return answer.status.token;
}
