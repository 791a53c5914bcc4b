import {
  type Authority,
  consoleLogger,
  type Logger,
  refuseUnknownOptions,
  type Scheduler,
  Shutdown,
  systemClock,
  systemRandom,
} from 'riata/runtime';
import { checkEnabled } from './admission/admission-control.js';
import {
  type ApiServerOptions,
  apiServerOptionNames,
  type ConnectOptions,
  connectOptionNames,
  type ListenOptions,
  listenOptionNames,
  type RestartOptions,
  restartOptionNames,
  type SuspendOptions,
  suspendOptionNames,
} from './api-server-options.js';
import { AuditLog } from './audit/audit-log.js';
import { identitiesOf, type ServiceAccountIdentity, type UserIdentity, userInfoOf } from './authentication/identity.js';
import { adminKubeconfig } from './http/admin-kubeconfig.js';
import { Dispatcher, type Durability } from './http/dispatcher.js';
import { InProcessTransport } from './http/in-process/in-process-transport.js';
import { isLoopback } from './http/node/is-loopback.js';
import type { NodeServer } from './http/node/node-server.js';
import { loadWriteParts } from './load-write-parts.js';
import { once } from './once.js';
import { certificateNames, serverValidity } from './server-authority.js';
import { ServerCore } from './server-core.js';
import { newIdentity, newToken, type ServerIdentity } from './server-identity.js';
import { ServerSnapshot } from './server-snapshot.js';
import { MemoryStorage } from './storage/memory-storage.js';
import type { Storage } from './storage/storage.js';
import type { InProcessHandler } from './webhook-client/in-process-handlers.js';

/** The user that a client acts as. */
export interface ActingAs {
  /** Its name, e.g. `system:serviceaccount:shop:robot`. */
  readonly user: string;
  /** What it authenticates by, as long as the server runs. */
  readonly token: string;
  /** For clients in this process. */
  readonly config: InProcessConfig;
  /** As {@link ApiServer.connect}, for this user. */
  connect(options?: Omit<ConnectOptions, 'token'>): InProcessConfig;
  /** The text of a kubeconfig, for clients elsewhere, once the server listens. */
  kubeconfig(listening: Pick<Listening, 'url' | 'ca'>): string;
}

/** A server that listens. */
export interface Listening extends AsyncDisposable {
  /** E.g. `https://127.0.0.1:6443`. */
  readonly url: string;
  /** The certificate of the authority that clients have to trust, PEM; undefined for plain HTTP. */
  readonly ca: string | undefined;
  /** Takes no more requests and closes all connections. The server itself stays. */
  close(): Promise<void>;
}

/** What a client has to know of the server; it has the form of riata's `RestConfig`. */
export interface InProcessConfig {
  readonly server: string;
  readonly transport: InProcessTransport;
  readonly credentials: {
    authorization(): Promise<string>;
    tls(): Promise<Record<never, never>>;
    refresh(): Promise<boolean>;
  };
}

/** How long requests in flight may take when a server stops gracefully. */
const graceMs = 2_000;

/** What a server starts from, and what it is known by. */
interface Beginnings {
  readonly storage: Storage;
  readonly identity: ServerIdentity;
  /** Releases what the server alone uses. */
  close?(): Promise<void>;
}

/**
 * A Kubernetes API server in this process. Clients reach it by `config`, without a socket, or, after {@link listen},
 * over HTTP and HTTPS.
 *
 * @example
 * await using server = await ApiServer.start();
 * const client = createClient(server.config);
 */
export class ApiServer implements AsyncDisposable {
  /** For clients in this process. */
  readonly transport: InProcessTransport;
  /** For clients in this process: server, transport and credentials in one. */
  readonly config: InProcessConfig;
  /** The administrator's token. */
  readonly token: string;
  readonly #beginnings: Beginnings;
  readonly #dispatcher: Dispatcher;
  readonly #core: ServerCore;
  /** What signs the server's own certificate: `kube-root-ca.crt` in every namespace. */
  readonly authority: Authority;
  readonly #clock: Scheduler;
  readonly #log: Logger;
  readonly #connections = new Set<InProcessTransport>();
  readonly #listening = new Set<NodeServer>();
  readonly #stopping = new AbortController();
  #connected = 0;
  #down = false;
  #stopped: Promise<void> | undefined;

  /**
   * Loads what servers need to write, so that a start takes no real time: for who drives it by a virtual clock. A server
   * that has a clock of its own does so when it starts, any other with the first write.
   */
  static async load(): Promise<void> {
    await loadWriteParts();
  }

  /** Starts a server. It is ready when this resolves. */
  static async start(options: ApiServerOptions = {}): Promise<ApiServer> {
    refuseUnknownOptions('ApiServer.start', options, apiServerOptionNames);
    const clock = options.clock ?? systemClock;
    // A storage that was used before may hold definitions; and where a clock jumps, nothing may take real time later.
    const { storage, dataDir, from } = options;
    if ([storage, dataDir, from, options.clock].some((given) => given !== undefined)) await loadWriteParts();
    await checkEnabled(options.admission);
    const beginnings = await beginningsOf(options, clock);
    let server: ApiServer | undefined;
    try {
      server = new ApiServer(options, clock, beginnings);
      // What every namespace has is there from the start.
      await server.#core.started();
      await beginnings.storage.durable(beginnings.storage.revision);
      return server;
    } catch (error) {
      // What it could not do to the end is not worth another error.
      await (server?.stop() ?? beginnings.close?.())?.catch(() => {});
      throw error;
    }
  }

  private constructor(options: ApiServerOptions, clock: Scheduler, beginnings: Beginnings) {
    const { random = systemRandom, cuts } = options;
    const { storage, identity } = beginnings;
    const log = options.log ?? consoleLogger({ level: 'warn' });
    this.token = options.token ?? identity.token;
    this.authority = identity.authority;
    this.#beginnings = beginnings;
    this.#core = new ServerCore({
      ...{ storage, clock, random, log, token: this.token, signer: identity.signer },
      tokens: identitiesOf(options.tokens ?? {}),
      rootCertificate: this.authority.cert,
      controllers: options.controllers ?? true,
      scheduler: options.scheduler ?? false,
      resolveService: options.resolveService,
      proxyIdentity: once(() => this.authority.issue('front-proxy-client', [])),
      ...{ admission: options.admission, containers: options.containers },
      maxInflight: maxInflightOf(options),
      // A test that changes default roles expects to find them so in a copy of its server.
      reconciles: options.dataDir !== undefined,
    });
    const { served: table, verbs: handlers, access, metrics } = this.#core;
    this.#dispatcher = new Dispatcher({
      ...{ table, handlers, gate: access, clock, log, metrics, stopping: this.#stopping.signal },
      durability: storage instanceof MemoryStorage ? undefined : durabilityOf(storage),
      openIdKeys: () => access.tokens.openIdKeys(),
      audit: AuditLog.from(options.audit, clock, log),
      flowControl: this.#core.flowControl,
      aggregation: this.#core.aggregation,
    });
    this.#clock = clock;
    this.#log = log;
    this.transport = this.#newTransport({ name: 'default', cuts });
    this.config = this.#configOf(this.transport);
  }

  /** Where the server keeps its objects: to observe or inspect them below the API. Writes go through clients. */
  get storage(): Storage {
    return this.#core.storage;
  }

  /**
   * A way to the server for one client alone, so that things can go wrong for it and for no other.
   *
   * @example
   * // Every third request is answered with 429.
   * const faults: Faults = ({ number }) =>
   *   number % 3 === 0 ? { fail: { code: 429, retryAfterSeconds: 1 } } : undefined;
   * const client = createClient(server.connect({ faults }));
   */
  connect(options: ConnectOptions = {}): InProcessConfig {
    refuseUnknownOptions('ApiServer.connect', options, connectOptionNames);
    this.#connected += 1;
    const { token = this.token, ...rest } = options;
    return this.#configOf(this.#newTransport({ name: `client-${this.#connected}`, ...rest }), token);
  }

  /**
   * Drops the history up to a revision, as if it were older than five minutes: lists and watches from before it get
   * 410. Open watches continue. @default all of it
   */
  compact(revision: number = this.#core.storage.revision): void {
    this.#core.storage.compact(revision);
  }

  /**
   * What the server holds now, to start others from: a suite prepares its cluster once, and each test gets its own copy.
   *
   * @example
   * const snapshot = server.snapshot();
   * await using copy = await ApiServer.start({ from: snapshot });
   */
  snapshot(): ServerSnapshot {
    const { storage, identity } = this.#beginnings;
    if (storage.snapshot === undefined) throw new TypeError('ApiServer.snapshot: the storage has no snapshot method');
    return new ServerSnapshot({ storage: storage.snapshot(), identity: { ...identity, token: this.token } });
  }

  /** Resolves when the server has no pending work: garbage, namespaces and definitions are handled. */
  idle(): Promise<void> {
    return this.#core.idle();
  }

  /**
   * Answers requests of the server itself in this process, without a socket: calls of webhooks and of aggregated API
   * servers. The handler gets all that is addressed to the URL or below it; a Service is addressed as
   * `https://NAME.NAMESPACE.svc`, with its port if that is not 443. Disposing the result removes the handler.
   *
   * @example
   * server.handle('https://hooks.shop.svc/validate', async (request) => Response.json(review(await request.json())));
   */
  handle(url: string, handler: InProcessHandler): Disposable {
    return this.#core.handlers.add(url, handler);
  }

  /**
   * Goes down, with all objects kept: connections, in this process and over HTTP, are cut, and new ones refused until
   * {@link resume}. As on a real server, a watch from before cannot go on after it: it gets 410, and lists again.
   */
  async suspend(options: SuspendOptions = {}): Promise<void> {
    refuseUnknownOptions('ApiServer.suspend', options, suspendOptionNames);
    const { graceful = false } = options;
    if (this.#stopped !== undefined) throw new Error('the server was stopped; start a new one');
    if (this.#down) return;
    this.#down = true;
    if (graceful) await this.#finishRunning();
    for (const transport of this.#connections) transport.cut();
    await Promise.all([...this.#listening].map((server) => server.suspend()));
    this.#core.verbs.stop();
    this.#core.verbs.forgetEvents();
  }

  /** Comes back after {@link suspend}. Rejects when another process listens on its port by now. */
  async resume(): Promise<void> {
    if (!this.#down || this.#stopped !== undefined) return;
    await Promise.all([...this.#listening].map((server) => server.resume()));
    this.#down = false;
  }

  /** {@link suspend}, for a while, then {@link resume}. */
  async restart(options: RestartOptions = {}): Promise<void> {
    refuseUnknownOptions('ApiServer.restart', options, restartOptionNames);
    const { downMs = 0, graceful = false } = options;
    await this.suspend({ graceful });
    if (downMs > 0) await this.#clock.sleep(downMs);
    await this.resume();
  }

  /** Serves the same objects over HTTPS, or HTTP, as well. Rejects when the port is taken. */
  async listen(options: ListenOptions = {}): Promise<Listening> {
    refuseUnknownOptions('ApiServer.listen', options, listenOptionNames);
    const { host = '127.0.0.1', port = 0, tls = true } = options;
    if (this.#stopped !== undefined) throw new Error('the server was stopped; start a new one');
    // Node's HTTP takes a while to load: who stays within the process does without.
    const { NodeServer } = await import('./http/node/node-server.js');
    const server = await NodeServer.listen((request, reply) => this.#dispatcher.handle(request, reply), {
      host,
      port,
      tls: tls ? this.authority.issue('riata-apiserver', certificateNames(host), serverValidity()) : undefined,
      clientAuthority: tls ? this.authority.cert : undefined,
      // Who is at the other end of a socket lives in real time, whatever the clock of the server says.
      clock: systemClock,
    });
    this.#listening.add(server);
    warnOfOpenPort(this.#log, server, tls);
    const close = async () => {
      await server.close();
      this.#listening.delete(server);
    };
    return { url: server.url, ca: tls ? this.authority.cert : undefined, close, [Symbol.asyncDispose]: close };
  }

  /**
   * A connection as another user: RBAC decides what it may do. A ServiceAccount need not exist.
   *
   * @example
   * const robot = server.as({ serviceAccount: 'robot', namespace: 'shop' });
   * const client = createClient(robot.config);
   * await writeFile('kubeconfig', robot.kubeconfig(await server.listen()));
   */
  as(identity: UserIdentity | ServiceAccountIdentity): ActingAs {
    const user = userInfoOf('ApiServer.as', identity);
    const token = newToken();
    this.#core.access.tokens.add(token, user);
    return {
      user: user.username,
      token,
      config: this.#configOf(this.transport, token),
      connect: (options = {}) => this.connect({ ...options, token }),
      kubeconfig: ({ url, ca }) => adminKubeconfig({ url, ca, token }),
    };
  }

  /** Ends watches, then everything else. Nothing is left running. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(): Promise<void> {
    this.#stopping.abort(new Shutdown('the server stops'));
    await Promise.all([...this.#listening].map((server) => server.close()));
    this.#core.stop();
    await Promise.all([...this.#connections].map((transport) => transport.close()));
    await this.#beginnings.close?.();
  }

  async #finishRunning(): Promise<void> {
    this.#core.verbs.stop();
    const deadline = this.#clock.monotonic() + graceMs;
    const isRunning = () => [...this.#connections, ...this.#listening].some(({ running }) => running > 0);
    // Most of it is done within a few turns; what is not waits for time to pass.
    for (let turns = 0; isRunning() && turns < 20; turns++) await this.#clock.yield();
    while (isRunning() && this.#clock.monotonic() < deadline) await this.#clock.sleep(50);
  }

  #newTransport(options: ConnectOptions): InProcessTransport {
    const refuses = () => this.#down;
    const transport = new InProcessTransport((request, reply) => this.#dispatcher.handle(request, reply), {
      ...{ ...options, clock: this.#clock, refuses },
      onClose: () => this.#connections.delete(transport),
    });
    this.#connections.add(transport);
    return transport;
  }

  #configOf(transport: InProcessTransport, token: string = this.token): InProcessConfig {
    const credentials = {
      authorization: async () => `Bearer ${token}`,
      tls: async () => ({}),
      refresh: async () => false,
    };
    return { server: 'http://riata.in-process', transport, credentials };
  }
}

/** Tests need loopback alone. A port that others reach is an administrator's token away from them. */
function warnOfOpenPort(log: Logger, { url, address }: NodeServer, tls: boolean): void {
  if (isLoopback(address)) return;
  log.warn('the API server listens beyond loopback: every host that reaches the port can send requests', {
    ...{ address, url, remedy: "listen on '127.0.0.1', or keep the port behind a firewall" },
    ...(!tls && { danger: 'plain HTTP: tokens and Secrets can be read on the network' }),
  });
}

async function beginningsOf(options: ApiServerOptions, clock: Scheduler): Promise<Beginnings> {
  const given = (['storage', 'dataDir', 'from'] as const).filter((name) => options[name] !== undefined);
  if (given.length > 1) throw new TypeError(`ApiServer.start: ${given.join(' and ')} exclude each other`);
  const { storage, dataDir, from } = options;
  if (from !== undefined) {
    const { storage: snapshot, identity } = ServerSnapshot.partsOf(from);
    return { storage: new MemoryStorage({ clock, from: snapshot }), identity };
  }
  if (dataDir === undefined) return { storage: storage ?? new MemoryStorage({ clock }), identity: newIdentity() };
  const { openDataDir } = await import('./storage/durable/open-data-dir.js');
  const { acceptDataLoss = false, log = consoleLogger({ level: 'warn' }) } = options;
  return openDataDir(dataDir, { clock, log, acceptDataLoss });
}

/** How many requests are executed at once, as kube-apiserver adds its two limits up. */
function maxInflightOf({ maxRequestsInflight = 400, maxMutatingRequestsInflight = 200 }: ApiServerOptions): number {
  for (const [name, value] of Object.entries({ maxRequestsInflight, maxMutatingRequestsInflight })) {
    if (Number.isInteger(value) && value >= 0) continue;
    throw new TypeError(`ApiServer.start: ${name} must be an integer ≥ 0, got ${value}`);
  }
  const sum = maxRequestsInflight + maxMutatingRequestsInflight;
  if (sum > 0) return sum;
  throw new TypeError('ApiServer.start: maxRequestsInflight and maxMutatingRequestsInflight must not both be 0');
}

function durabilityOf(storage: Storage): Durability {
  return {
    settled: () => storage.durable(storage.revision),
    get problem() {
      return storage.problem;
    },
  };
}
