import type { ConnectedClient } from 'riata';
import type { Cache, CacheHealth } from 'riata/cache';
import type { ControllerHealth } from 'riata/controller';
import type { Cluster } from 'riata/manager';
import { compareResourceVersions, keyId, metadataOnly } from 'riata/object';
import { isNotFound } from 'riata/rest';
import { describeError } from 'riata/runtime';
import { clustersOf } from './clusters-of.js';
import type { TestManager } from './test-manager.js';

/** By whom servers are looked at. */
export interface Lookers {
  /** For managers' own. */
  readonly client: ConnectedClient;
  readonly clientOf: (cluster: Cluster) => ConnectedClient;
}

/** The pending work of managers, in words; empty if nothing is pending. Throws if one of them has failed. */
export async function pendingWork(managers: Iterable<TestManager>, lookers: Lookers): Promise<string[]> {
  const pending: string[] = [];
  for (const manager of managers) {
    for (const what of await pendingOf(manager, lookers)) pending.push(`${manager.name}: ${what}`);
  }
  return pending;
}

/** A text that stays the same until {@link pendingWork} would find something else, unless other clients act. */
export function stateOfWork(managers: Iterable<TestManager>): string {
  return JSON.stringify(
    [...managers].map(({ manager, exit, notStarted, controllers }) => [
      ...[exit?.reason, notStarted],
      controllers.map(({ phase, waitingFor, queued, delayed, active }) => [
        ...[phase, waitingFor, queued, delayed],
        active.map(({ reconcileID }) => reconcileID),
      ]),
      [manager, ...clustersOf(manager)].map(({ cache }) => cache.health.flatMap(stateOfInformers)),
    ]),
  );
}

function stateOfInformers({ informers }: CacheHealth) {
  return informers.map(({ phase, resourceVersion, objects, handlers }) => [
    ...[phase, resourceVersion, objects],
    handlers.map(({ pending }) => pending),
  ]);
}

/** Milliseconds until the first key of any controller is due; undefined if none waits. */
export function nextDelayedMs(managers: Iterable<TestManager>): number | undefined {
  let next: number | undefined;
  for (const { controllers } of managers) {
    for (const { nextDelayedMs: own } of controllers) {
      if (own !== undefined && (next === undefined || own < next)) next = own;
    }
  }
  return next;
}

/** Delayed work, in words. */
export function delayedWork(managers: Iterable<TestManager>): string[] {
  return [...managers].flatMap(({ name, controllers }) =>
    controllers
      .filter(({ delayed }) => delayed > 0)
      .map((health) => `${name}: controller "${health.name}": ${health.delayed} due in ${health.nextDelayedMs} ms`),
  );
}

async function pendingOf(test: TestManager, { client, clientOf }: Lookers): Promise<string[]> {
  const { exit, manager } = test;
  if (exit?.reason === 'failed') {
    throw new Error(`${test.name} has failed: ${exit.runnable}: ${describeError(exit.error)}`, { cause: exit.error });
  }
  if (exit !== undefined) return [];
  const begins = test.notStarted.map((name) => `controller "${name}" has not begun`);
  const { behind, isKindMissing } = await look(manager.cache, client);
  const missing = new Set<string>();
  for (const cluster of clustersOf(manager)) {
    const there = await look(cluster.cache, clientOf(cluster)).catch((error: unknown) => ({
      behind: [`no answer: ${describeError(error)}`],
      isKindMissing: false,
    }));
    // It may have been removed meanwhile.
    if (cluster.signal.aborted) continue;
    behind.push(...there.behind.map((what) => `cluster ${cluster.name}: ${what}`));
    if (there.isKindMissing) missing.add(`cluster ${cluster.name}`);
  }
  const busy = test.controllers.flatMap((health) => busyWith(health, isKindMissing, missing));
  return [...begins, ...behind, ...busy];
}

/** How far a cache is behind its server. */
async function look({ health }: Pick<Cache, 'health'>, client: ConnectedClient) {
  let isKindMissing = false;
  const behind: string[] = [];
  for (const each of health) {
    const state = await stateOf(each, client);
    if (state === 'not served') isKindMissing = true;
    else if (state !== undefined) behind.push(state);
  }
  return { behind, isKindMissing };
}

function busyWith(health: ControllerHealth, isKindMissing: boolean, missing: ReadonlySet<string>): string[] {
  const { name, phase, queued, active } = health;
  // A kind that is not served is not awaited: only the test can install it.
  const waitingFor = health.waitingFor.filter((what) => !missing.has(what));
  const isStarting = (phase === 'syncing' || phase === 'idle') && !isKindMissing;
  const isSyncing = isStarting || (phase === 'running' && waitingFor.length > 0);
  return [
    ...(isSyncing ? [`controller "${name}" waits for: ${waitingFor.join(', ') || 'its start'}`] : []),
    ...(phase === 'running' && queued > 0 ? [`controller "${name}": ${queued} queued`] : []),
    ...active.map(({ key, runningMs }) => `controller "${name}": reconciling ${keyId(key)} for ${runningMs} ms`),
  ];
}

/** Compares the informers with the server: one that has all versions and no additional object is up to date. */
async function stateOf(health: CacheHealth, client: ConnectedClient): Promise<string | undefined> {
  const { kind, informers, selections } = health;
  for (const [index, informer] of informers.entries()) {
    const selection = selections[index];
    if (informer.phase === 'idle' || informer.phase === 'stopped' || selection === undefined) continue;
    const { name, phase, resourceVersion, objects, missing, handlers } = informer;
    const listed = await client
      .list(kind.projection === undefined ? metadataOnly(kind) : kind, { ...selection, cutManagedFields: true })
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
    if (listed === undefined) return 'not served';
    if (phase !== 'watching') return `the informer of ${name} is ${phase}`;
    const isSeen = listed.items.every(
      ({ metadata }) => (compareResourceVersions(metadata.resourceVersion, resourceVersion) ?? 1) <= 0,
    );
    if (!isSeen || listed.items.length !== objects + missing) return `the informer of ${name} is behind the server`;
    const late = handlers.find(({ pending }) => pending > 0);
    if (late !== undefined) return `"${late.name}" has not heard of all changes of ${name}`;
  }
  return undefined;
}
