import { stat } from 'node:fs/promises';
import { ApiServer, type Faults, MemoryStorage, type Storage } from '@riata/apiserver';
import type { Transport } from 'riata/rest';
import { httpTransport, loadConfig, type RestConfig, staticCredentials } from 'riata/rest';
import { type Logger, type Random, systemClock } from 'riata/runtime';
import { RealTime, type TestTime, type VirtualTime } from './test-time.js';

/**
 * Which server tests run on. `in-process`: the embedded one, without a socket, on a virtual clock. `https`: the embedded
 * one behind a socket, in real time. `kubeconfig`: the cluster that `KUBECONFIG`, the pod or `~/.kube/config` names. Or
 * the path of a kubeconfig, or of a folder with `etcd` and `kube-apiserver` (`KUBEBUILDER_ASSETS`), which are started.
 */
export type TestServerChoice = 'in-process' | 'https' | 'kubeconfig' | (string & {});

/** The variable that says which, where the test itself does not. */
export const serverVariable = 'RIATA_TEST_SERVER';

/** A way to the server for one client. */
export interface TestConnection {
  readonly config: RestConfig & { readonly transport: Transport };
  /** Cuts what is open; undefined where that is out of reach. */
  readonly cut?: () => void;
}

/** A server that a test runs on. */
export interface TestServer extends AsyncDisposable {
  readonly time: TestTime;
  /** None: one that is not ours. */
  readonly embedded?: ApiServer;
  /** Of an embedded server. */
  readonly storage?: Storage;
  /** For clients that the test makes itself. */
  readonly config: RestConfig;
  connect(name: string, faults: Faults): TestConnection;
}

/** How servers are made. */
export interface TestServerOptions {
  readonly choice: TestServerChoice;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly log: Logger;
}

/** Starts the server, or connects to it. Rejects if the choice names nothing that is there. */
export async function startTestServer(options: TestServerOptions): Promise<TestServer> {
  const { choice } = options;
  if (choice === 'in-process') return inProcess(options);
  if (choice === 'https') return overHttps(options);
  if (choice === 'kubeconfig') return real(await loadConfig());
  const found = await stat(choice).catch(() => undefined);
  if (found?.isFile()) return real(await loadConfig({ path: choice }));
  if (found?.isDirectory()) {
    const { startControlPlane } = await import('./control-plane.js');
    const plane = await startControlPlane(choice);
    return { ...real(plane.config), [Symbol.asyncDispose]: () => plane[Symbol.asyncDispose]() };
  }
  throw new Error(
    `${serverVariable}: expected "in-process", "https", "kubeconfig", the path of a kubeconfig, or a folder with etcd ` +
      `and kube-apiserver; got ${JSON.stringify(choice)}`,
  );
}

async function inProcess({ time, random, log }: TestServerOptions): Promise<TestServer> {
  const { clock } = time;
  const storage = new MemoryStorage({ clock });
  await ApiServer.load();
  const server = await time.drive(ApiServer.start({ clock, random, log, storage }), 'the start of the server');
  return {
    ...{ time, embedded: server, storage, config: server.config },
    connect(name, faults) {
      const config = server.connect({ name, faults });
      return { config, cut: () => config.transport.cut() };
    },
    [Symbol.asyncDispose]: () => time.drive(server.stop(), 'the end of the server'),
  };
}

async function overHttps({ random, log }: TestServerOptions): Promise<TestServer> {
  const storage = new MemoryStorage({ clock: systemClock });
  const server = await ApiServer.start({ random, log, storage });
  const { url, ca } = await server.listen();
  const config = { server: url, credentials: staticCredentials({ token: server.token, ca }) };
  const time = new RealTime();
  const stop = () => server.stop();
  return { time, embedded: server, storage, config, connect: connectTo(config), [Symbol.asyncDispose]: stop };
}

function real(config: RestConfig): TestServer {
  return { time: new RealTime(), config, connect: connectTo(config), async [Symbol.asyncDispose]() {} };
}

function connectTo(config: RestConfig): TestServer['connect'] {
  return () => ({ config: { ...config, transport: httpTransport(config, { clock: systemClock }) } });
}
