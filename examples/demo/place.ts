import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { adminKubeconfig } from '@riata/apiserver';
import { Sandbox } from '@riata/sandbox';
import { loadConfig, type RestConfig } from 'riata';
import type { ReconcileRecord } from 'riata/controller';

/** Where the demo runs. */
export interface Place extends AsyncDisposable {
  readonly config: RestConfig;
  readonly name: string;
  /** What the cluster's own controllers did; nothing is known of those of a real one. */
  explain(): readonly ReconcileRecord[];
  /** How to reach it with kubectl. */
  readonly kubectl: string;
}

/** A cluster of its own, in this process, which kubectl can reach, too. */
export async function sandbox(): Promise<Place> {
  const made = await Sandbox.start({ nodes: 3 });
  const { url, ca } = await made.listen({ port: 0 });
  const folder = await mkdtemp(join(tmpdir(), 'riata-demo-'));
  const path = join(folder, 'kubeconfig');
  await writeFile(path, adminKubeconfig({ url, ca, token: made.server.token }), { mode: 0o600 });
  return {
    config: made.config,
    name: `a sandbox at ${url}`,
    explain: () => made.explain,
    kubectl: `export KUBECONFIG=${path}`,
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true });
      await made.stop();
    },
  };
}

/** The cluster of the kubeconfig, if the user agrees. Undefined if not. */
export async function realCluster(kinds: readonly string[]): Promise<Place | undefined> {
  const config = await loadConfig();
  const ask = createInterface({ input: process.stdin, output: process.stdout });
  const question = `Install the kinds ${kinds.join(' and ')} on ${config.server}, and make objects in the namespace riata-demo? [y/N] `;
  const answer = await ask.question(question);
  ask.close();
  if (!/^y(es)?$/i.test(answer.trim())) return undefined;
  return {
    config,
    name: config.server,
    explain: () => [],
    kubectl: 'kubectl config current-context',
    async [Symbol.asyncDispose]() {},
  };
}
