import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminKubeconfig } from '@riata/apiserver';
import { Sandbox } from '@riata/sandbox';
import type { RestConfig } from 'riata';
import { type CrdSource, installCrds } from 'riata/patterns';

/** The namespace of all objects of the demo. */
export const namespace = 'riata-demo';

/** Where the demo runs: a cluster that is ready for it. */
export interface Place extends AsyncDisposable {
  readonly config: RestConfig;
  readonly name: string;
  /** How to reach it with kubectl. */
  readonly kubectl: string;
  /** Removes what the demo created, while its controllers still run. */
  cleanUp(): Promise<void>;
}

/** A sandbox in this process that kubectl can reach, too. */
export async function sandbox(kinds: readonly CrdSource[]): Promise<Place> {
  const made = await Sandbox.start({ nodes: 3 });
  await installCrds(made.client, kinds);
  const { url, ca } = await made.listen({ port: 0 });
  const folder = await mkdtemp(join(tmpdir(), 'riata-demo-'));
  const path = join(folder, 'kubeconfig');
  await writeFile(path, adminKubeconfig({ url, ca, token: made.server.token }), { mode: 0o600 });
  return {
    config: made.config,
    name: `a sandbox at ${url}`,
    kubectl: `export KUBECONFIG=${path}`,
    cleanUp: async () => {},
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true });
      await made.stop();
    },
  };
}
