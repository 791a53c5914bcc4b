import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from 'riata/client';
import { ConfigMap, CustomResourceDefinition, Lease, Namespace } from 'riata/kinds';
import { findCondition } from 'riata/object';
import { configFromKubeconfig, ignoreAlreadyExists } from 'riata/rest';
import { type Random, seededRandom, silentLogger, systemClock } from 'riata/runtime';
import { expect } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { auditedRequests, createdTwice, leaderTerms, overtakenWrites } from './audit-log.js';
import { startChaosProxy } from './chaos-proxy.js';
import { OperatorReplica } from './operator-replica.js';
import { slotTermOf, slotTerms } from './shard-audit.js';
import { Widget } from './widget-kind.js';

/** What a run of {@link operatorChaos} saw. */
export interface ChaosReport {
  readonly seconds: number;
  readonly writes: number;
  /** Of leaders, or of owners of slots. */
  readonly terms: number;
  readonly starts: number;
  readonly mischief: Readonly<Record<string, number>>;
}

/**
 * Three replicas of an operator, under leader election or sharing the work, take care of Widgets, while replicas are killed and paused, their
 * network is cut, and the API server is restarted. In the end all Widgets are ready, no ConfigMap was ever created twice,
 * no old leader or owner wrote over a new one, and nothing is written any more.
 */
export async function operatorChaos(options: {
  readonly seed: number;
  readonly widgets: number;
  /** @default 'leader' */
  readonly mode?: 'leader' | 'sharded';
}): Promise<ChaosReport> {
  const plane = controlPlaneFromEnv();
  const { mode = 'leader' } = options;
  const random = seededRandom(options.seed);
  const startedAt = systemClock.monotonic();
  const config = await configFromKubeconfig(plane.kubeconfig);
  await using client = createClient(config, { runtime: { log: silentLogger } });
  const namespace = await prepare(client);
  const dir = mkdtempSync(join(tmpdir(), 'riata-chaos-'));
  const networks = await Promise.all(Array.from({ length: 3 }, () => startChaosProxy(new URL(config.server), random)));
  const replicas = networks.map(({ url }, at) => {
    const kubeconfig = plane.kubeconfig.replaceAll(config.server, url);
    return new OperatorReplica(`replica-${at}`, { dir, kubeconfig, namespace, mode });
  });
  const mischief: Record<string, number> = {};
  try {
    const stop = new AbortController();
    const leader = () => leaderOf(client, namespace, replicas);
    const trouble = makeTrouble({ random, replicas, networks, plane, leader, signal: stop.signal, mischief });
    await Promise.all([createWidgets(client, namespace, options.widgets), systemClock.sleep(leastTroubleMs)]);
    // On a slow machine a leader may take its time to come.
    if (mode === 'leader') {
      await until('leaders were killed', async () => (mischief['kill the leader'] ?? 0) >= leastKilledLeaders);
    }
    await until('there was trouble of every sort', async () => sorts.every((sort) => mischief[sort] !== undefined));
    stop.abort();
    await trouble;
    for (const network of networks) network.calm();
    for (const replica of replicas) replica.resume();
    await allReady(client, namespace, options.widgets, replicas);
    if (mode === 'leader') await until('another one leads', async () => (await leader()) !== undefined);
    await quiet(plane.auditLogPath, namespace);
    const codes = await Promise.all(replicas.map((replica) => replica.stop()));
    const { writes } = await auditedRequests(plane.auditLogPath, namespace);
    expect(codes).toEqual([0, 0, 0]);
    expect(writes.length).toBeGreaterThanOrEqual(2 * options.widgets);
    expect(createdTwice(writes, 'configmaps')).toEqual([]);
    const isSharded = mode === 'sharded';
    expect(overtakenWrites(writes, isSharded ? slotTermOf(writes, 'widgets', namespace) : undefined)).toEqual([]);
    const { items } = await client.list(ConfigMap, { namespace });
    expect(items.filter(({ metadata }) => metadata.ownerReferences?.[0]?.kind === 'Widget')).toHaveLength(
      options.widgets,
    );
    const starts = replicas.reduce((sum, replica) => sum + replica.starts, 0);
    const seconds = (systemClock.monotonic() - startedAt) / 1_000;
    const terms = isSharded ? slotTerms(writes, 'widgets').flat() : leaderTerms(writes);
    return { seconds, writes: writes.length, terms: terms.length, starts, mischief };
  } finally {
    for (const replica of replicas) await replica.stop();
    for (const network of networks) await network[Symbol.asyncDispose]();
    rmSync(dir, { recursive: true, force: true });
    await client.delete(Namespace, { name: namespace });
  }
}

const leastTroubleMs = 20_000;

/** When the replica that leads is killed, whatever else happens: each time another one has to take over. */
const leaderKilledMs = [3_000, 9_000, 15_000];
const leastKilledLeaders = 2;

/** The replica that leads, if there is one and the server answers. */
async function leaderOf(
  client: Client,
  namespace: string,
  replicas: readonly OperatorReplica[],
): Promise<OperatorReplica | undefined> {
  const lease = await client.find(Lease, { namespace, name: 'widgets' }, { maxRetries: 0 }).catch(() => undefined);
  return replicas.find(({ identity }) => identity === lease?.spec?.holderIdentity);
}

interface Trouble {
  readonly random: Random;
  readonly replicas: readonly OperatorReplica[];
  readonly networks: readonly { act(): void }[];
  readonly plane: ReturnType<typeof controlPlaneFromEnv>;
  readonly leader: () => Promise<OperatorReplica | undefined>;
  readonly signal: AbortSignal;
  readonly mischief: Record<string, number>;
}

const sorts = ['kill', 'pause', 'resume', 'cut the network', 'restart the server'] as const;

/** Something bad every second or so, until the signal aborts: each sort once, then as it comes. */
async function makeTrouble({ random, replicas, networks, plane, leader, signal, mischief }: Trouble): Promise<void> {
  // Mostly the one that leads, as it has the most to lose.
  const victim = async () => {
    const any = random.pick(replicas);
    return random.next() < 0.25 ? any : ((await leader()) ?? any);
  };
  const acts = {
    kill: async () => (await victim()).kill(),
    pause: async () => (await victim()).pause(),
    resume: () => {
      for (const replica of replicas) replica.resume();
    },
    'cut the network': () => random.pick(networks).act(),
    'restart the server': () => plane.restartApiServer({ graceful: random.next() < 0.5 }),
  };
  const order = ['kill', 'pause', 'cut the network', 'cut the network', 'resume', 'resume'] as const;
  const startedAt = systemClock.monotonic();
  const kills = [...leaderKilledMs];
  const owed: (typeof sorts)[number][] = [...sorts];
  let restarts = 0;
  while (!signal.aborted) {
    await systemClock.sleep(random.int(300, 1_500));
    if (signal.aborted) return;
    const leading = systemClock.monotonic() - startedAt > (kills[0] ?? Infinity) ? await leader() : undefined;
    if (leading !== undefined) {
      kills.shift();
      leading.kill();
      mischief['kill the leader'] = (mischief['kill the leader'] ?? 0) + 1;
      continue;
    }
    const [due] = owed.splice(random.int(0, Math.max(0, owed.length - 1)), 1);
    const isRestart = restarts < 2 && random.next() < 0.15;
    const act = due ?? (isRestart ? 'restart the server' : random.pick(order));
    if (act === 'restart the server') restarts += 1;
    mischief[act] = (mischief[act] ?? 0) + 1;
    await acts[act]();
  }
}

async function prepare(client: Client): Promise<string> {
  await client.create(CustomResourceDefinition(Widget.crd() as never)).catch(ignoreAlreadyExists);
  await until('the kind is served', async () => client.list(Widget, { limit: 1 }).then(Boolean, () => false));
  return (await client.create(Namespace({ metadata: { generateName: 'chaos-' } }))).metadata.name;
}

/** Not faster than the trouble: the server may be down meanwhile. */
async function createWidgets(client: Client, namespace: string, count: number): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const size = next++;
      const widget = Widget({ metadata: { namespace, name: `w-${size}` }, spec: { size } });
      await until('a Widget is created', async () =>
        client.create(widget).then(
          () => true,
          async () => Boolean(await client.find(Widget, { namespace, name: `w-${size}` }).catch(() => undefined)),
        ),
      );
    }
  };
  await Promise.all(Array.from({ length: 4 }, worker));
}

async function allReady(
  client: Client,
  namespace: string,
  count: number,
  replicas: readonly OperatorReplica[],
): Promise<void> {
  await until(
    'all Widgets are ready',
    async () => {
      const { items } = await client.list(Widget, { namespace });
      const ready = items.filter(({ status, spec }) => {
        return status?.size === spec.size && findCondition(status?.conditions, 'Ready')?.status === 'True';
      });
      return ready.length === count;
    },
    () => replicas.map(({ name, log }) => `${name}:\n${log}`).join('\n'),
  );
}

/** No write but to the lease within three seconds. */
async function quiet(auditLogPath: string, namespace: string): Promise<void> {
  const count = async () => {
    const { writes } = await auditedRequests(auditLogPath, namespace);
    return writes.filter(({ resource }) => resource !== 'leases').length;
  };
  await until('nothing is written any more', async () => {
    const before = await count();
    await systemClock.sleep(3_000);
    return (await count()) === before;
  });
}

async function until(what: string, probe: () => Promise<boolean>, report: () => string = () => ''): Promise<void> {
  const deadline = systemClock.monotonic() + 240_000;
  while (!(await probe().catch(() => false))) {
    if (systemClock.monotonic() > deadline) throw new Error(`waited four minutes in vain until ${what}\n${report()}`);
    await systemClock.sleep(200);
  }
}
