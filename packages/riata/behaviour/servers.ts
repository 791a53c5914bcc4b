import { afterAll, beforeAll, describe } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { type ConnectedClient, createClient } from '../src/client/index.js';
import { Namespace } from '../src/kinds/index.js';
import { configFromKubeconfig, type RestConfig } from '../src/rest/index.js';
import { systemRandom } from '../src/runtime/index.js';

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

async function realServer(): Promise<TestServer & AsyncDisposable> {
  const config = await configFromKubeconfig(controlPlaneFromEnv().kubeconfig);
  const client = createClient(config);
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
