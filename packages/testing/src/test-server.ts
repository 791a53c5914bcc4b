import { stat } from 'node:fs/promises';
import { ApiServer, type ApiServerOptions, type Faults, MemoryStorage, type Storage } from '@riata/apiserver';
import type { Transport } from 'riata/rest';
import { defaultTransport, loadConfig, type RestConfig, staticCredentials } from 'riata/rest';
import { type Logger, optionNames, type Random, systemClock } from 'riata/runtime';
import { FaultyTransport } from './faults/faulty-transport.js';
import { RealTime, type TestTime } from './test-time.js';

/**
 * Which server tests run on. `in-process`: the embedded one, without a socket, on a virtual clock. `https`: the embedded
 * one behind a socket, in real time. `kubeconfig`: the cluster that `KUBECONFIG`, the pod or `~/.kube/config` names. Or
 * the path of a kubeconfig, or of a folder with `etcd` and `kube-apiserver` (`KUBEBUILDER_ASSETS`), which are started.
 */
export type TestServerChoice = 'in-process' | 'https' | 'kubeconfig' | (string & {});

/** The variable that says which, where the test itself does not. */
export const serverVariable = 'RIATA_TEST_SERVER';

/** Faults of a server itself, which affect all its clients. Its objects stay. */
export interface ServerControl {
  /** Stops: in order, with requests in flight answered and watches ended first, or by force. */
  suspend(options: { readonly graceful: boolean }): Promise<void>;
  /** Comes back. Resolves when it takes requests. */
  resume(): Promise<void>;
  /** Forgets the past. */
  compact(): Promise<void>;
}

/**
 * A server that the test itself has started, e.g. in a container. `env.faults` supports the faults that it implements,
 * and refuses the rest.
 */
export interface OwnServer extends Partial<ServerControl> {
  /** As an administrator. */
  readonly config: RestConfig;
  /**
   * Whether the server is discarded with all its objects: then nothing is removed when the environment ends. @default
   * false
   */
  readonly isThrownAway?: boolean;
}

/** Options of the embedded server; see `ApiServerOptions`. */
export type EmbeddedOptions = Pick<ApiServerOptions, 'controllers' | 'cuts'>;

export const embeddedOptionNames = optionNames<EmbeddedOptions>({ controllers: true, cuts: true });

/** How one client reaches the server. */
export type ConnectionConfig = RestConfig & { readonly transport: Transport };

/** A server that a test runs on. */
export interface TestServer extends AsyncDisposable {
  readonly time: TestTime;
  /** None: one that is not ours. */
  readonly embedded?: ApiServer;
  /** Of an embedded server. */
  readonly storage?: Storage;
  /** For clients that the test makes itself. */
  readonly config: RestConfig;
  /** Not reachable: it does not exist. */
  readonly control: Partial<ServerControl>;
  /** Whether a controller empties deleted namespaces; on a foreign server that is unknown. */
  readonly emptiesNamespaces: boolean;
  readonly isThrownAway: boolean;
  readonly isInProcess: boolean;
  connect(name: string, faults: Faults): ConnectionConfig;
}

/** How servers are made. */
export interface TestServerOptions {
  readonly choice: TestServerChoice | OwnServer;
  /** For the in-process server. */
  readonly time: TestTime;
  readonly random: Random;
  readonly log: Logger;
  readonly embedded: EmbeddedOptions;
}

/** Starts the server, or connects to it. Rejects if the choice names nothing that is there. */
export async function startTestServer(options: TestServerOptions): Promise<TestServer> {
  const { choice } = options;
  if (typeof choice === 'object') return real(choice);
  if (choice === 'in-process') return inProcess(options);
  if (choice === 'https') return overHttps(options);
  if (choice === 'kubeconfig') return real({ config: await loadConfig() });
  const found = await stat(choice).catch(() => undefined);
  if (found?.isFile()) return real({ config: await loadConfig({ path: choice }) });
  if (found?.isDirectory()) {
    const { startControlPlane } = await import('./control-plane.js');
    const plane = await startControlPlane(choice);
    const stop = () => plane[Symbol.asyncDispose]();
    return { ...real({ config: plane.config, isThrownAway: true }), [Symbol.asyncDispose]: stop };
  }
  throw new Error(
    `server, or ${serverVariable}: expected "in-process", "https", "kubeconfig", the path of a kubeconfig, or a folder with etcd ` +
      `and kube-apiserver; got ${JSON.stringify(choice)}`,
  );
}

async function inProcess({ time, random, log, embedded: options }: TestServerOptions): Promise<TestServer> {
  const { clock } = time;
  const storage = new MemoryStorage({ clock });
  await ApiServer.load();
  const starting = ApiServer.start({ ...serverOptions(options), clock, random, log, storage });
  const server = await time.drive(starting, 'the start of the server');
  return {
    ...{ ...embeddedParts(server, storage, options), time, config: server.config, isInProcess: true },
    connect: (name, faults) => server.connect({ name, faults, cuts: options.cuts }),
    [Symbol.asyncDispose]: () => time.drive(server.stop(), 'the end of the server'),
  };
}

async function overHttps({ random, log, embedded: options }: TestServerOptions): Promise<TestServer> {
  const storage = new MemoryStorage({ clock: systemClock });
  const server = await ApiServer.start({ ...serverOptions(options), random, log, storage });
  const { url, ca } = await server.listen();
  const config = { server: url, credentials: staticCredentials({ token: server.token, ca }) };
  return {
    ...{ ...embeddedParts(server, storage, options), time: new RealTime(), config, isInProcess: false },
    connect: connectTo(config),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** Without controllers nobody creates ServiceAccounts, so Pods need none: as in envtest. */
function serverOptions(options: EmbeddedOptions): ApiServerOptions {
  return options.controllers === false ? { ...options, admission: { disable: ['ServiceAccount'] } } : options;
}

function embeddedParts(server: ApiServer, storage: Storage, { controllers = true }: EmbeddedOptions) {
  const control: ServerControl = {
    suspend: (options) => server.suspend(options),
    resume: () => server.resume(),
    compact: async () => server.compact(),
  };
  return { embedded: server, storage, control, emptiesNamespaces: controllers, isThrownAway: true };
}

function real(own: OwnServer): TestServer {
  const { config, isThrownAway = false } = own;
  return {
    ...{ time: new RealTime(), config, control: own, isThrownAway, emptiesNamespaces: false, isInProcess: false },
    connect: connectTo(config),
    async [Symbol.asyncDispose]() {},
  };
}

function connectTo(config: RestConfig): TestServer['connect'] {
  return (name, faults) => {
    const inner =
      config.transport === undefined ? defaultTransport(config, { clock: systemClock }) : shared(config.transport);
    return { ...config, transport: new FaultyTransport(inner, { name, faults, clock: systemClock }) };
  };
}

/** The one way that there is, which is not ours to close. */
function shared(transport: Transport): Transport {
  const close = async () => {};
  return { dispatch: (request, sink) => transport.dispatch(request, sink), close, [Symbol.asyncDispose]: close };
}
