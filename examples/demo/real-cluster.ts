import { createInterface } from 'node:readline/promises';
import {
  type Client,
  createClient,
  ignoreNotFound,
  type KindRef,
  type KubeObject,
  loadConfig,
  type RestConfig,
  silentLogger,
} from 'riata';
import { waitForDeletion } from 'riata/controller';
import { CustomResourceDefinition, Namespace } from 'riata/kinds';
import { type CrdSource, installCrds } from 'riata/patterns';
import { namespace, type Place } from './place.js';

/** Label of the demo's own namespace. Namespaces without it are never deleted. */
const mark = { 'app.kubernetes.io/managed-by': 'riata-demo' };

export interface RealClusterOptions {
  /** @default `loadConfig()` */
  readonly config?: RestConfig;
  /** Whether the user agrees to the changes. @default asks on the terminal */
  readonly agrees?: (what: string) => Promise<boolean>;
  readonly print?: (line: string) => void;
}

/**
 * The cluster of the kubeconfig with the kinds installed, or undefined if the user declines. Leftovers of an earlier run
 * are removed first; definitions that existed before are kept.
 */
export async function realCluster(
  kinds: readonly Extract<CrdSource, { crd(): unknown }>[],
  { config: given, agrees = ask, print = console.log }: RealClusterOptions = {},
): Promise<Place | undefined> {
  const config = given ?? (await loadConfig());
  const client = createClient(config, { runtime: { log: silentLogger } });
  const made: string[] = [];
  const isLeft = await leftByEarlierRun(client, config.server).catch(async (error: unknown) => {
    await client.close();
    throw error;
  });
  const names = kinds.map((kind) => kind.crd().metadata.name);
  const what = `This installs ${names.join(' and ')} on ${config.server} and creates the namespace ${namespace}. Afterwards it removes what did not exist before.`;
  if (!(await agrees(what))) {
    print('Nothing was changed.');
    await client.close();
    return undefined;
  }
  if (isLeft) {
    print(`Removing the namespace ${namespace} of an earlier run…`);
    await removed(client, Namespace, namespace);
  }
  await client.create(Namespace({ metadata: { name: namespace, labels: mark } }));
  for (const { name, action } of await installCrds(client, kinds)) if (action === 'created') made.push(name);
  return {
    config,
    name: config.server,
    kubectl: `the cluster of your kubeconfig, ${config.server}`,
    async cleanUp() {
      print(`Removing the namespace ${namespace}${made.map((name) => `, ${name}`).join('')}…`);
      await removed(client, Namespace, namespace);
      await Promise.all(made.map((name) => removed(client, CustomResourceDefinition, name)));
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

async function leftByEarlierRun(client: Client, server: string): Promise<boolean> {
  const found = await client.find(Namespace, { name: namespace });
  if (found === undefined) return false;
  const [[label, value]] = Object.entries(mark) as [[string, string]];
  if (found.metadata.labels?.[label] === value) return true;
  throw new Error(
    `namespace ${namespace} already exists on ${server} and does not belong to the demo: it lacks the label ${label}=${value}`,
  );
}

/** Deletes an object and waits until it is gone. */
async function removed(client: Client, kind: KindRef<KubeObject, 'Cluster'>, name: string): Promise<void> {
  await client.delete(kind, { name }).catch(ignoreNotFound);
  await waitForDeletion(client, kind, { name }, { timeout: '2m' });
}

async function ask(what: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new Error(`${what}\nstandard input is not a terminal; to agree, run npm run demo -- --cluster --yes`);
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-C and Ctrl-D close it without an answer.
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  const answer = await Promise.race([terminal.question(`${what} Continue? [y/N] `), closed]);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}
