import { ApiServer } from '@riata/apiserver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { type ConnectedClient, createClient } from '../src/client/index.js';
import { Namespace } from '../src/kinds/index.js';
import { configFromKubeconfig, type RestConfig, staticCredentials } from '../src/rest/index.js';
import { silentLogger, systemClock, systemRandom } from '../src/runtime/index.js';

/** A server that behaviour is tested on. What the real one does is the truth. */
export interface TestServer {
  readonly config: RestConfig;
  /** As an administrator. */
  readonly client: ConnectedClient;
  /** What can be done to the server itself: it is done to whoever uses it at the same time. */
  readonly control: ServerControl;
  /** Makes an empty namespace for one test. */
  newNamespace(): Promise<string>;
}

/** Objects stay; what is told to watches does not. */
export interface ServerControl {
  /** Gracefully, it ends watches in order and answers what is under way; otherwise it cuts all connections. */
  stop(options: { readonly graceful: boolean }): Promise<void>;
  start(): Promise<void>;
  restart(options?: { readonly graceful: boolean }): Promise<void>;
  /** Forgets the past. */
  compact(): Promise<void>;
}

/** What only the real control plane can do. */
export type ControlPlane = ReturnType<typeof controlPlaneFromEnv>;

/** The servers there are: the embedded one in this process and over HTTPS, and the real one. */
export type ServerName = keyof typeof starters;

const starters = { 'in-process': inProcessServer, https: httpsServer, 'kube-apiserver': realServer } as const;

/** Those that this run is for: `RIATA_SERVERS`, set by the vitest projects. */
const wanted = (process.env.RIATA_SERVERS ?? 'kube-apiserver').split(',') as ServerName[];

/**
 * Runs a suite on every server that it means something on, all by default. `server()` may be called inside tests only.
 */
export function describeServers(
  title: string,
  suite: (server: () => TestServer) => void,
  on: readonly ServerName[] = ['in-process', 'https', 'kube-apiserver'],
): void {
  for (const name of wanted.filter((w) => on.includes(w))) {
    describe(`${title} (${name})`, () => {
      describing = name;
      let server: (TestServer & AsyncDisposable) | undefined;
      beforeAll(async () => {
        server = await starters[name]();
      });
      afterAll(() => server?.[Symbol.asyncDispose]());
      suite(() => server!);
    });
  }
  // A file with no suite at all would be an error of the test runner.
  if (!wanted.some((w) => on.includes(w))) {
    describe(title, () => test(`is about ${on.join(' and ')}`, () => expect(wanted).not.toContain(on[0])));
  }
}

/** The server that tests are being declared for. */
let describing: ServerName | undefined;

/** A test that means something on some of the servers only: the real one, for what the embedded one does not do yet. */
export function testOn(on: readonly ServerName[], title: string, run: () => Promise<void>): void {
  if (describing !== undefined && on.includes(describing)) test(title, run);
}

/** For what comes with users and RBAC, with nodes, and with kube-controller-manager. */
export const realOnly: readonly ServerName[] = ['kube-apiserver'];

export function controlPlane(): ControlPlane {
  return controlPlaneFromEnv();
}

/** Asks again and again until the answer is neither undefined nor false; fails with `what` after a minute. */
export async function until<T>(what: string, probe: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = systemClock.monotonic() + 60_000;
  for (;;) {
    const answer = await probe();
    if (answer !== undefined && answer !== false) return answer;
    if (systemClock.monotonic() > deadline) throw new Error(`waited a minute in vain until ${what}`);
    await systemClock.sleep(50);
  }
}

/** What a promise rejects with; an error if it does not. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('error' in outcome && outcome.error instanceof Error) return outcome.error;
  throw new Error('expected a rejection with an Error, got another outcome', { cause: outcome });
}

/** A name that no other test has. */
export function uniqueName(prefix: string): string {
  return `${prefix}${systemRandom.int(0, 0xffff_ffff).toString(36)}`;
}

async function realServer(): Promise<TestServer & AsyncDisposable> {
  const plane = controlPlaneFromEnv();
  const control: ServerControl = {
    stop: (options) => plane.stopApiServer(options),
    start: () => plane.startApiServer(),
    restart: (options) => plane.restartApiServer(options),
    compact: async () => void (await plane.compact()),
  };
  return testServer(await configFromKubeconfig(plane.kubeconfig), control, async () => {});
}

function controlOf(server: ApiServer): ServerControl {
  return {
    stop: (options) => server.suspend(options),
    start: () => server.resume(),
    restart: (options) => server.restart(options),
    compact: async () => server.compact(),
  };
}

async function inProcessServer(): Promise<TestServer & AsyncDisposable> {
  const server = await ApiServer.start({ log: silentLogger, controllers: false, cuts: systemRandom });
  return testServer(server.config, controlOf(server), () => server.stop());
}

async function httpsServer(): Promise<TestServer & AsyncDisposable> {
  const server = await ApiServer.start({ log: silentLogger, controllers: false });
  const { url, ca } = await server.listen();
  const config = { server: url, credentials: staticCredentials({ token: server.token, ca }) };
  return testServer(config, controlOf(server), () => server.stop());
}

function testServer(
  config: RestConfig,
  control: ServerControl,
  stop: () => Promise<void>,
): TestServer & AsyncDisposable {
  const client = createClient(config, { runtime: { log: silentLogger } });
  return {
    ...{ config, client, control },
    async newNamespace() {
      const made = await client.create(Namespace({ metadata: { generateName: `t-${systemRandom.int(0, 9999)}-` } }));
      return made.metadata.name;
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await stop();
    },
  };
}
