import { stat } from 'node:fs/promises';
import { ApiServer, type ApiServerOptions, type Faults, type InProcessHandler, type Storage } from '@riata/apiserver';
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

/**
 * Options of the embedded server; see `ApiServerOptions`. `from` is a snapshot of an environment or server: each test
 * gets its own copy of a prepared cluster. `dataDir` keeps the objects on disk, also after the environment has stopped;
 * it needs real time.
 */
export interface EmbeddedOptions
  extends Pick<ApiServerOptions, 'controllers' | 'cuts' | 'from' | 'dataDir' | 'admission' | 'audit'> {
  /** Webhooks and aggregated API servers in this process, by URL; see {@link TestEnvironment.handle}. @default none */
  readonly handlers?: Readonly<Record<string, InProcessHandler>>;
}

export const embeddedOptionNames = optionNames<EmbeddedOptions>({
  controllers: true,
  cuts: true,
  from: true,
  dataDir: true,
  admission: true,
  audit: true,
  handlers: true,
});

/** Options that a server of another kind cannot follow, while it can do without the others. */
const embeddedOnly = ['from', 'dataDir', 'handlers'] as const;

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
  const { choice, embedded, time } = options;
  if (choice === 'in-process') {
    if (embedded.dataDir === undefined || !time.isVirtual) return inProcess(options);
    throw new TypeError("embedded.dataDir requires time: 'real', as the disk works in real time");
  }
  if (choice === 'https') return overHttps(options);
  const needed = embeddedOnly.filter((name) => embedded[name] !== undefined);
  if (needed.length > 0) {
    const names = needed.map((name) => `embedded.${name}`).join(' and ');
    throw new TypeError(`${names}: the server must be an embedded one ('in-process' or 'https')`);
  }
  if (typeof choice === 'object') return real(choice);
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
  await ApiServer.load();
  const starting = ApiServer.start({ ...serverOptions(options), clock, random, log });
  const server = await time.drive(starting, 'the start of the server');
  return {
    ...{ ...embeddedParts(server, options), time, config: server.config, isInProcess: true },
    connect: (name, faults) => server.connect({ name, faults, cuts: options.cuts }),
    [Symbol.asyncDispose]: () => time.drive(server.stop(), 'the end of the server'),
  };
}

async function overHttps({ random, log, embedded: options }: TestServerOptions): Promise<TestServer> {
  const server = await ApiServer.start({ ...serverOptions(options), random, log });
  const { url, ca } = await server.listen();
  const config = { server: url, credentials: staticCredentials({ token: server.token, ca }) };
  return {
    ...{ ...embeddedParts(server, options), time: new RealTime(), config, isInProcess: false },
    connect: connectTo(config),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** Without controllers there are no ServiceAccounts, so Pods don't need one, as in envtest. */
function serverOptions({ handlers: _, ...options }: EmbeddedOptions): ApiServerOptions {
  const { controllers, admission: { enable = [], disable = [] } = {} } = options;
  if (controllers !== false || enable.includes('ServiceAccount')) return options;
  return { ...options, admission: { enable, disable: [...new Set([...disable, 'ServiceAccount'])] } };
}

function embeddedParts(server: ApiServer, { controllers = true, handlers = {} }: EmbeddedOptions) {
  const control: ServerControl = {
    suspend: (options) => server.suspend(options),
    resume: () => server.resume(),
    compact: async () => server.compact(),
  };
  for (const [url, handler] of Object.entries(handlers)) server.handle(url, handler);
  return {
    ...{ embedded: server, storage: server.storage, control },
    ...{ emptiesNamespaces: controllers, isThrownAway: true },
  };
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
