import { type Logger, optionNames, type Random, type Scheduler } from 'riata/runtime';
import type { AdmissionOptions } from './admission/admission.js';
import type { AuditOptions } from './audit/audit-log.js';
import type { UserIdentity } from './authentication/identity.js';
import type { ContainerRuntime } from './containers/container-runtime.js';
import type { Faults } from './faults.js';
import type { ServerSnapshot } from './server-snapshot.js';
import type { Storage } from './storage/storage.js';
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
  /**
   * Where all data is kept, so that it survives crashes and power loss: every write is on the disk before it is answered.
   * The directory is made if it does not exist; one server at a time uses it. Requires the package `classic-level`.
   * @default memory only
   */
  readonly dataDir?: string;
  /** Start with what is intact if files of `dataDir` are damaged. @default false: throw an error that names them */
  readonly acceptDataLoss?: boolean;
  /** What the server holds from the start: a snapshot of another one. @default a new, empty cluster */
  readonly from?: ServerSnapshot;
  /** The administrator's token. @default that of `dataDir` or `from`, else a new one that cannot be guessed */
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
  /**
   * How many requests are executed at once, together with {@link maxMutatingRequestsInflight}: the sum is divided among
   * priority levels, as kube-apiserver's `--max-requests-inflight` is. Requests beyond it wait, or get 429. Those of
   * `system:masters` and watches that have begun don't count. @default 400
   */
  readonly maxRequestsInflight?: number;
  /** See {@link maxRequestsInflight}. @default 200 */
  readonly maxMutatingRequestsInflight?: number;
  /** Records requests, as kube-apiserver's audit log does. @default nothing is recorded */
  readonly audit?: AuditOptions | undefined;
  /**
   * What runs in the containers of Pods: serves exec, attach, port-forward and logs.
   * @default nothing: they are refused, as by a node that cannot be reached
   */
  readonly containers?: ContainerRuntime | undefined;
  /** Cuts in-process answers into pieces at random places, for tests. @default as they were written */
  readonly cuts?: Random;
}

export const apiServerOptionNames = optionNames<ApiServerOptions>({
  clock: true,
  random: true,
  log: true,
  storage: true,
  dataDir: true,
  acceptDataLoss: true,
  from: true,
  token: true,
  tokens: true,
  controllers: true,
  scheduler: true,
  resolveService: true,
  admission: true,
  maxRequestsInflight: true,
  maxMutatingRequestsInflight: true,
  audit: true,
  containers: true,
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
