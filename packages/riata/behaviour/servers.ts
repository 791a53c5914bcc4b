import { afterAll, beforeAll, describe } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { type ConnectedClient, createClient } from '../src/client/index.js';
import { Namespace } from '../src/kinds/index.js';
import { configFromKubeconfig, type RestConfig } from '../src/rest/index.js';
import { silentLogger, systemClock, systemRandom } from '../src/runtime/index.js';

/** A server that behaviour is tested on. What the real one does is the truth. */
export interface TestServer {
  readonly config: RestConfig;
  /** As an administrator. */
  readonly client: ConnectedClient;
  /** Makes an empty namespace for one test. */
  newNamespace(): Promise<string>;
}

/** What only the real control plane can do. */
export type ControlPlane = ReturnType<typeof controlPlaneFromEnv>;

/** Runs a suite on every server that there is. `server()` may be called inside tests only. */
export function describeServers(title: string, suite: (server: () => TestServer) => void): void {
  describe(`${title} (kube-apiserver)`, () => {
    let server: (TestServer & AsyncDisposable) | undefined;
    beforeAll(async () => {
      server = await realServer();
    });
    afterAll(() => server?.[Symbol.asyncDispose]());
    suite(() => server!);
  });
}

export function controlPlane(): ControlPlane {
  return controlPlaneFromEnv();
}

/** Asks again and again until the answer is neither undefined nor false; fails with `what` after half a minute. */
export async function until<T>(what: string, probe: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = systemClock.monotonic() + 30_000;
  for (;;) {
    const answer = await probe();
    if (answer !== undefined && answer !== false) return answer;
    if (systemClock.monotonic() > deadline) throw new Error(`waited half a minute in vain until ${what}`);
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
  const config = await configFromKubeconfig(controlPlaneFromEnv().kubeconfig);
  const client = createClient(config, { runtime: { log: silentLogger } });
  return {
    config,
    client,
    async newNamespace() {
      const made = await client.create(Namespace({ metadata: { generateName: `t-${systemRandom.int(0, 9999)}-` } }));
      return made.metadata.name;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
