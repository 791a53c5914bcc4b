import { type ConnectedClient, createClient, isNoMatch, type WriteObject } from 'riata/client';
import { CustomResourceDefinition, Namespace } from 'riata/kinds';
import { formatGvk, gvkOf, type KindRef, type KubeObject } from 'riata/object';
import type { Apply, PlannedChange } from 'riata/patterns';
import { isNotFound } from 'riata/rest';
import { type Scheduler, silentLogger } from 'riata/runtime';
import { clusterConfig } from '../command/cluster-options.js';
import { CommandError } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import { loadOperator } from '../config/load-operator.js';
import type { CrdKind } from '../config/operator.js';
import { operatorObjects } from '../manifests/operator-objects.js';
import { confirm } from './confirm.js';
import { deployedSet, isWebhookConfiguration, memberName } from './deployed-set.js';
import { listed, removeNamespace, unlistedReason } from './remove-namespace.js';
import { explained, timeoutOf } from './run-deploy.js';
import type { UndeployCommandOptions } from './undeploy-command.js';

/** What `riata undeploy --json` prints. */
export interface UndeployResult {
  readonly server: string;
  readonly namespace: string;
  /** In the order of their deletion. */
  readonly deleted: readonly string[];
  /** Objects of the operator's kinds, by the name of the definition. */
  readonly objects: Readonly<Record<string, number>>;
  /** What is left, with the reason. */
  readonly kept: readonly string[];
  /** Kinds in which the operator may have objects that could not be seen, with the reason. */
  readonly unlisted: Readonly<Record<string, string>>;
  /** False for a dry run. */
  readonly applied: boolean;
}

/** The work of `riata undeploy`. */
export async function runUndeploy(io: CommandIo, options: UndeployCommandOptions): Promise<void> {
  const timeoutMs = timeoutOf(options.timeout);
  const { operator: configured } = await loadOperator(io, options);
  const operator = { ...configured, namespace: options.namespace ?? configured.namespace };
  const config = await clusterConfig(io, options);
  await using client = createClient(config, { runtime: { ...io.runtime, log: silentLogger } });
  const { signal } = io;
  const set = deployedSet(client, operator, { ...io.runtime, log: silentLogger });
  const unlisted = new Map<string, string>();
  const onUnlisted = (what: string, error: unknown) => void unlisted.set(what, unlistedReason(error));
  const found = await explained(io, async () => {
    // Those that it has now must be seen; kinds that it had before are found where they can be listed.
    const kinds = await kindsOf(client, await operatorObjects(operator));
    return set.dryRun([], { signal, noDeleteKinds: [], kinds, onUnlisted });
  });
  for (const reason of new Set(unlisted.values())) {
    const kinds = [...unlisted].filter(([, each]) => each === reason).map(([what]) => what);
    io.note(`cannot look for ${listed(kinds)}: ${reason}; if the operator has any, they stay`);
  }
  const members = found.delete.filter(({ kind }) => kind.kind !== 'Namespace');
  const hasNamespace = found.delete.length > members.length;
  const kinds = await explained(io, () => countObjects(client, operator.kinds, signal));
  const say = options.json ? (line: string) => io.note(line) : (line: string) => io.out(line);
  const configurations = members.filter(({ kind }) => isWebhookConfiguration(kind));
  const rest = members.filter(({ kind }) => !isWebhookConfiguration(kind));
  for (const each of configurations) say(`- delete ${memberName(each)}`);
  if (options.crds)
    for (const { name, count } of kinds) say(`- delete CustomResourceDefinition ${name} with ${objectsText(count)}`);
  for (const each of rest) say(`- delete ${memberName(each)}`);
  if (hasNamespace) say(`- delete Namespace ${operator.namespace}, unless something else is in it`);
  const base = {
    server: config.server,
    namespace: operator.namespace,
    objects: Object.fromEntries(kinds.map(({ name, count }) => [name, count])),
    unlisted: Object.fromEntries(unlisted),
  };
  const isNothing = found.delete.length === 0 && !(options.crds && kinds.length > 0);
  if (isNothing) say(`${operator.name} is not deployed to the namespace ${operator.namespace}`);
  if (options.dryRun || isNothing) return report(io, options, { ...base, deleted: [], kept: [], applied: false });
  const doomed = options.crds ? kinds.reduce((sum, { count }) => sum + count, 0) : 0;
  const question = doomed > 0 ? ` and ${objectsText(doomed)} of ${kinds.map(({ name }) => name).join(', ')}` : '';
  await confirm(io, `Remove ${operator.name}${question} from ${config.server}?`, options.yes);
  const kept: string[] = [];
  const deleted: string[] = [];
  await explained(io, async () => {
    deleted.push(...(await removeMembers(client, configurations, signal)));
    const waiting = { clock: io.runtime.clock, timeoutMs, signal };
    if (options.crds) deleted.push(...(await removeCrds(client, kinds, waiting)));
    else kept.push(...(await finishDeletions(client, kinds, waiting)));
    await removeOperator(set, signal);
    deleted.push(...rest.map(memberName));
    if (hasNamespace) {
      const own = { namespace: operator.namespace, name: operator.name };
      const left = await removeNamespace(client, own, signal);
      if (left.length === 0) deleted.push(`Namespace ${operator.namespace}`);
      else kept.push(...left.map((reason) => `Namespace ${operator.namespace}: ${reason}`));
    }
  });
  for (const line of kept) io.note(`kept ${line}`);
  report(io, options, { ...base, deleted, kept, applied: true });
  io.note(`${operator.name} is removed`);
}

/** The kinds of objects, as far as the server knows them. */
async function kindsOf(client: ConnectedClient, objects: readonly WriteObject[]): Promise<KindRef[]> {
  const kinds = new Map<string, KindRef>();
  for (const { apiVersion, kind } of objects) {
    const gvk = gvkOf({ apiVersion, kind });
    if (kinds.has(formatGvk(gvk))) continue;
    try {
      kinds.set(formatGvk(gvk), await client.mapper.kindForGvk(gvk));
    } catch (error) {
      if (!isNoMatch(error)) throw error;
    }
  }
  return [...kinds.values()];
}

interface InstalledKind {
  readonly kind: KindRef;
  /** Of the CustomResourceDefinition. */
  readonly name: string;
  readonly count: number;
}

interface Waiting {
  readonly clock: Scheduler;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

async function countObjects(
  client: ConnectedClient,
  kinds: readonly CrdKind[],
  signal: AbortSignal,
): Promise<InstalledKind[]> {
  const found: InstalledKind[] = [];
  for (const kind of kinds) {
    const name = `${kind.plural}.${kind.group}`;
    if ((await client.find(CustomResourceDefinition, { name }, { signal })) === undefined) continue;
    found.push({ kind, name, count: (await objectsOf(client, kind, signal)).length });
  }
  return found;
}

async function objectsOf(client: ConnectedClient, kind: KindRef, signal: AbortSignal): Promise<readonly KubeObject[]> {
  try {
    return (await client.list(kind, { signal })).items;
  } catch (error) {
    if (isNotFound(error) || isNoMatch(error)) return [];
    throw error;
  }
}

async function removeMembers(
  client: ConnectedClient,
  members: readonly PlannedChange[],
  signal: AbortSignal,
): Promise<string[]> {
  for (const { kind, namespace, name } of members) {
    const key = namespace === undefined ? { name } : { namespace, name };
    await client.delete(kind, key as never, { signal }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
  return members.map(memberName);
}

/** Deletes definitions while the operator still runs: the finalizers of its objects need it. */
async function removeCrds(
  client: ConnectedClient,
  kinds: readonly InstalledKind[],
  { clock, timeoutMs, signal }: Waiting,
): Promise<string[]> {
  const end = clock.monotonic() + timeoutMs;
  for (const { name } of kinds) {
    await client.delete(CustomResourceDefinition, { name }, { signal }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
  for (const { kind, name } of kinds) {
    while ((await client.find(CustomResourceDefinition, { name }, { signal })) !== undefined) {
      if (clock.monotonic() >= end) {
        const blocked = (await objectsOf(client, kind, signal)).filter(({ metadata }) => metadata.finalizers?.length);
        const names = blocked
          .slice(0, 5)
          .map(
            ({ metadata }) =>
              `${metadata.namespace ? `${metadata.namespace}/` : ''}${metadata.name} (${metadata.finalizers?.join(', ')})`,
          );
        throw new CommandError(
          `CustomResourceDefinition ${name} is not gone after ${Math.round(timeoutMs / 1000)} s: ${blocked.length} objects have finalizers: ${names.join(', ')}; the operator still runs: see its log, or run riata explain`,
        );
      }
      await clock.sleep(500, { signal });
    }
  }
  return kinds.map(({ name }) => `CustomResourceDefinition ${name}`);
}

/** Gives the operator time for objects that are being deleted; says which ones will wait for it to come back. */
async function finishDeletions(
  client: ConnectedClient,
  kinds: readonly InstalledKind[],
  { clock, timeoutMs, signal }: Waiting,
): Promise<string[]> {
  const end = clock.monotonic() + timeoutMs;
  const kept: string[] = [];
  for (const { kind, name } of kinds) {
    for (;;) {
      const objects = await objectsOf(client, kind, signal);
      const deleting = objects.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
      if (deleting.length > 0 && clock.monotonic() < end) {
        await clock.sleep(500, { signal });
        continue;
      }
      const finalized = objects.filter(({ metadata }) => metadata.finalizers?.length).length;
      const note =
        finalized > 0 ? `; ${objectsText(finalized)} have finalizers and cannot be deleted without the operator` : '';
      kept.push(`CustomResourceDefinition ${name} with ${objectsText(objects.length)}${note}`);
      break;
    }
  }
  return kept;
}

async function removeOperator(set: Apply, signal: AbortSignal): Promise<void> {
  await set.apply([], { signal, noDeleteKinds: [Namespace, CustomResourceDefinition] });
}

function objectsText(count: number): string {
  return count === 1 ? '1 object' : `${count} objects`;
}

function report(io: CommandIo, options: UndeployCommandOptions, result: UndeployResult): void {
  if (options.json) io.out(JSON.stringify(result, null, 2));
}
