import {
  type Authority,
  consoleLogger,
  type Logger,
  optionNames,
  type Random,
  refuseUnknownOptions,
  type Scheduler,
  Shutdown,
  systemClock,
  systemRandom,
} from 'riata/runtime';
import type { AdmissionOptions } from './admission/admission.js';
import { checkEnabled } from './admission/admission-control.js';
import { identitiesOf, type ServiceAccountIdentity, type UserIdentity, userInfoOf } from './authentication/identity.js';
import type { Faults } from './faults.js';
import { adminKubeconfig } from './http/admin-kubeconfig.js';
import { Dispatcher } from './http/dispatcher.js';
import { InProcessTransport } from './http/in-process/in-process-transport.js';
import type { NodeServer } from './http/node/node-server.js';
import { once } from './once.js';
import { loadWriteParts } from './resource/load-write-parts.js';
import { certificateNames, newAuthority } from './server-authority.js';
import { ServerCore } from './server-core.js';
import { MemoryStorage } from './storage/memory-storage.js';
import type { Storage } from './storage/storage.js';
import type { InProcessHandler } from './webhook-client/in-process-handlers.js';
import type { ResolveService } from './webhook-client/service-resolver.js';

/** Options of `ApiServer.start`. */
export interface ApiServerOptions {
  /** What timeouts, TTLs and times of objects come from; a `VirtualClock` in tests. @default systemClock */
  readonly clock?: Scheduler;
  /** What uids and generated names come from. @default systemRandom */
  readonly random?: Random;
  /** @default warnings and errors, to standard error */
  readonly log?: Logger;
  /** Where objects live. @default memory */
  readonly storage?: Storage;
  /** The administrator's token. @default a new one, that cannot be guessed */
  readonly token?: string;
  /** Tokens of other users, as in kube-apiserver's `--token-auth-file`. @default none */
  readonly tokens?: Readonly<Record<string, UserIdentity>>;
  /**
   * Do what kube-controller-manager does for every kind, too: namespaces get a ServiceAccount and the root certificate
   * and are emptied when deleted, and garbage is collected. @default true
   */
  readonly controllers?: boolean;
  /** Whether a scheduler runs in this process: ComponentStatuses show it as healthy. @default false */
  readonly scheduler?: boolean;
  /**
   * Where Services are reached that webhooks and aggregated API servers stand behind; undefined for one: by its
   * ExternalName or a ready endpoint. @default all of them
   */
  readonly resolveService?: ResolveService;
  /**
   * Which admission plugins run, as kube-apiserver's `--enable-admission-plugins` and `--disable-admission-plugins` say.
   * @default those that kube-apiserver has on
   */
  readonly admission?: AdmissionOptions;
  /** Cuts in-process answers into pieces at random places, for tests. @default as they were written */
  readonly cuts?: Random;
}

export const apiServerOptionNames = optionNames<ApiServerOptions>({
  clock: true,
  random: true,
  log: true,
  storage: true,
  token: true,
  tokens: true,
  controllers: true,
  scheduler: true,
  resolveService: true,
  admission: true,
  cuts: true,
});

/** Where others reach the server. */
export interface ListenOptions {
  /** @default '127.0.0.1' */
  readonly host?: string;
  /** 0: one that is free. @default 0 */
  readonly port?: number;
  /** HTTPS, with a certificate of the server's own authority. @default true */
  readonly tls?: boolean;
}

export const listenOptionNames = optionNames<ListenOptions>({ host: true, port: true, tls: true });

/** How one client reaches the server. */
export interface ConnectOptions {
  /** What `faults` calls it. @default 'client-1', 'client-2', … */
  readonly name?: string;
  /** What goes wrong between this client and the server. @default nothing */
  readonly faults?: Faults;
  /** Cuts answers into pieces at random places. @default as they were written */
  readonly cuts?: Random;
  /** What it authenticates by. @default the administrator's token */
  readonly token?: string;
}

export const connectOptionNames = optionNames<ConnectOptions>({ name: true, faults: true, cuts: true, token: true });

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

/** How a server goes down. */
export interface SuspendOptions {
  /**
   * Watches are ended in order and requests in flight are answered first; they get two seconds. Otherwise all
   * connections are cut where they are. @default false
   */
  readonly graceful?: boolean;
}

export const suspendOptionNames = optionNames<SuspendOptions>({ graceful: true });

export interface RestartOptions extends SuspendOptions {
  /** How long connections are refused, on the server's clock. @default 0 */
  readonly downMs?: number;
}

export const restartOptionNames = optionNames<RestartOptions>({ downMs: true, graceful: true });

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
  readonly #dispatcher: Dispatcher;
  readonly #core: ServerCore;
  /** What signs the server's own certificate: `kube-root-ca.crt` in every namespace. */
  readonly authority: Authority;
  readonly #clock: Scheduler;
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
    // A storage that was used before may hold definitions; and where a clock jumps, nothing may take real time later.
    if (options.storage !== undefined || options.clock !== undefined) await loadWriteParts();
    await checkEnabled(options.admission);
    const server = new ApiServer(options);
    // What every namespace has is there from the start.
    await server.idle();
    return server;
  }

  private constructor(options: ApiServerOptions) {
    const { clock = systemClock, random = systemRandom, storage = new MemoryStorage({ clock }), cuts } = options;
    const log = options.log ?? consoleLogger({ level: 'warn' });
    const token = options.token ?? systemRandom.uuid().replaceAll('-', '');
    this.token = token;
    this.authority = newAuthority();
    this.#core = new ServerCore({
      ...{ storage, clock, random, log, token },
      tokens: identitiesOf(options.tokens ?? {}),
      rootCertificate: this.authority.cert,
      controllers: options.controllers ?? true,
      scheduler: options.scheduler ?? false,
      resolveService: options.resolveService,
      proxyIdentity: once(() => this.authority.issue('front-proxy-client', [])),
      admission: options.admission,
    });
    const { served: table, verbs: handlers, access, metrics } = this.#core;
    this.#dispatcher = new Dispatcher({
      ...{ table, handlers, gate: access, clock, log, metrics, stopping: this.#stopping.signal },
      openIdKeys: () => access.tokens.openIdKeys(),
      flowHeaders: (user, info) => this.#core.flows.headersFor(user, info),
      aggregation: this.#core.aggregation,
    });
    this.#clock = clock;
    this.transport = this.#newTransport({ name: 'default', cuts });
    this.config = this.#configOf(this.transport);
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
      tls: tls ? this.authority.issue('riata-apiserver', certificateNames(host)) : undefined,
      clientAuthority: tls ? this.authority.cert : undefined,
      // Who is at the other end of a socket lives in real time, whatever the clock of the server says.
      clock: systemClock,
    });
    this.#listening.add(server);
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
    const token = systemRandom.uuid().replaceAll('-', '');
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
