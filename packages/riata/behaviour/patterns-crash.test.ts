import type { TestEnvironment } from '@riata/testing';
import type { Client } from 'riata/client';
import { Secret } from 'riata/kinds';
import type { KindRef } from 'riata/object';
import { Apply, Cond, registerGeneratingHandler, registerStatusHandler, relatedResource } from 'riata/patterns';
import { type Transport, TransportError, type TransportRequest, type TransportSink } from 'riata/rest';
import { onAbort, type Random, seededRandom, silentLogger } from 'riata/runtime';
import { beforeAll, expect, test } from 'vitest';
import { installKind, type Widget, type WidgetKind } from './custom-kind.js';
import { startPatterns } from './patterns-play.js';
import { describedServer, describeServers, until } from './servers.js';

/** How many histories; more by hand: `RIATA_RUNS=200`. */
const seedsOn = { 'in-process': 4, https: 2, 'kube-apiserver': 2 };

/** What a Widget should have become: in its own namespace and in another one. */
const desiredBy = ({ metadata: { name }, spec }: Widget): [own: string[], other: string[]] => {
  const size = Number(spec?.size ?? 0);
  const names = Array.from({ length: size }, (_, index) => `${name}-${index}`);
  return [names.filter((_, index) => index % 2 === 1), names.filter((_, index) => index % 2 === 0)];
};

interface Program {
  readonly Widget: WidgetKind;
  readonly at: readonly string[];
  /** What has been cleaned up; undefined for a program that does nothing of the kind. */
  readonly cleaned: Set<string> | undefined;
}

/** One time of the program, from its start until it is cut off, in the middle of whatever it does. */
function startProgram(server: TestEnvironment, { Widget, at: [namespace = '', other = ''], cleaned }: Program) {
  const network = severable(server);
  // A crashing program does not wait for its handlers.
  const play = startPatterns(server, namespace, { drain: '1ms', connection: network.connection });
  const { controllers, signal, client } = play;
  const [widgets, secrets] = [controllers.for(Widget), controllers.for(Secret)];
  const apply = new Apply(client, { kinds: [Secret], lookup: 'given', runtime: { log: silentLogger } });
  if (cleaned) widgets.onRemove('first', (_, { metadata }) => void cleaned.add(`first ${metadata.uid}`));
  const options = { name: 'secrets', condition: 'Made', allowCrossNamespace: true };
  registerGeneratingHandler(widgets, apply, options, (widget) => {
    const [own, far] = desiredBy(widget);
    const secret = (at: string) => (name: string) =>
      Secret({ metadata: { namespace: at, name }, stringData: { of: widget.metadata.name } });
    return { objects: [...own.map(secret(namespace)), ...far.map(secret(other))] };
  });
  if (cleaned) widgets.onRemove('last', (_, { metadata }) => void cleaned.add(`last ${metadata.uid}`));
  registerStatusHandler(widgets, { name: 'size' }, ({ spec }, status) => ({ ...status, size: spec?.size ?? 0 }));
  relatedResource.watch('owners', relatedResource.ownerResolver(Widget), widgets, [secrets], { signal });
  const started = controllers.start({ signal }).catch(() => {});
  const crash = async () => {
    await network.cut();
    await play[Symbol.asyncDispose]();
    await started;
  };
  return { network, crash };
}

/** A way to the server that can be cut: no request gets through any more. */
function severable(server: TestEnvironment) {
  const connection = server.connect();
  const { transport } = connection.config;
  const stalled = new Set<TransportSink>();
  const underWay = new Set<Promise<void>>();
  let [isCut, left, isLate] = [false, Number.POSITIVE_INFINITY, false];
  /** Sent; its events are delivered unless they are dropped. */
  const send = (request: TransportRequest, sink: TransportSink | undefined) => {
    let done = () => {};
    const effect = new Promise<void>((resolve) => {
      done = resolve;
    });
    if (request.method !== 'GET') underWay.add(effect);
    const end = (report: () => void) => {
      underWay.delete(effect);
      done();
      report();
    };
    transport.dispatch(request, {
      onHeaders: (status, headers, flow) => sink?.onHeaders(status, headers, flow),
      onData: (chunk) => sink?.onData(chunk),
      onEnd: () => end(() => sink?.onEnd()),
      onError: (error) => end(() => sink?.onError(error)),
    });
  };
  const dispatch: Transport['dispatch'] = (request, sink) => {
    if (!isCut && request.method !== 'GET') left -= 1;
    if (!isCut && left >= 0) return send(request, sink);
    // The one that it was cut at may have been sent, and its answer is lost.
    if (!isCut && isLate) send({ ...request, signal: undefined }, undefined);
    isCut = true;
    stalled.add(sink);
    // Nothing comes to the sink before this has returned.
    void Promise.resolve().then(() =>
      onAbort(request.signal, () => {
        if (stalled.delete(sink)) sink.onError(request.signal?.reason);
      }),
    );
  };
  const close = async () => {
    for (const sink of stalled)
      sink.onError(new TransportError('cut by the test', { kind: 'reset', requestSent: true }));
    stalled.clear();
  };
  return {
    connection: {
      requests: connection.requests,
      config: { ...connection.config, transport: { dispatch, close, [Symbol.asyncDispose]: close } },
      close: async () => {
        await close();
        await connection.close();
      },
    },
    get isCut() {
      return isCut;
    },
    /** Resolves when what was sent before has had its effect: nothing of it may come after what is done next. */
    async cut() {
      isCut = true;
      await Promise.all(underWay);
    },
    /** Cuts it at the write after this many more: before it is sent, or, `late`, before it is answered. */
    cutAfterWrites(count: number, { late }: { readonly late: boolean }) {
      [left, isLate] = [count, late];
    },
  };
}

/** What was deleted with which of the program's finalizers on it: each has to be cleaned up. */
type Owed = Set<string>;

/** Users, and a client that interferes. */
async function someWork(
  random: Random,
  server: TestEnvironment,
  Widget: WidgetKind,
  at: string[],
  owed: Owed,
): Promise<void> {
  const { client } = server;
  const [namespace = ''] = at;
  for (let step = 0; step < 6; step += 1) {
    const key = { namespace, name: random.pick(['a', 'b', 'c', 'd']) };
    const spec = { size: random.int(0, 4) };
    const act = random.int(0, 9);
    if (act < 4) {
      const made = await client.create(Widget({ metadata: key, spec })).catch(() => undefined);
      if (made === undefined) await client.patch(Widget, key, { type: 'merge', body: { spec } }).catch(() => undefined);
    } else if (act < 7) {
      const deleted = await client.delete(Widget, key).catch(() => undefined);
      const { uid, finalizers = [] } = (deleted as Widget | undefined)?.metadata ?? {};
      for (const name of ['first', 'last'])
        if (finalizers.includes(`wrangler.cattle.io/${name}`)) owed.add(`${name} ${uid}`);
    } else {
      const place = random.pick(at);
      const [name] = await namesOf(client, Secret, place);
      if (name !== undefined) await client.delete(Secret, { namespace: place, name }).catch(() => undefined);
    }
  }
}

async function namesOf(client: Client, kind: KindRef, namespace: string): Promise<string[]> {
  return (await client.list(kind, { namespace })).items.map(({ metadata }) => metadata.name).sort();
}

/** True if the program has no more to do about Widgets. */
function isAtRest(widgets: readonly Widget[]): boolean {
  return widgets.every((widget) => {
    const isDone = widget.status?.size === widget.spec?.size && new Cond('Made').isTrue(widget);
    return isDone && widget.metadata.deletionTimestamp === undefined;
  });
}

describeServers('programs that crash', (server) => {
  const few = seedsOn[describedServer()];
  let Widget: WidgetKind;
  beforeAll(async () => {
    Widget = await installKind(server());
    server().keep();
  });

  const histories = Array.from({ length: Number(process.env.RIATA_RUNS ?? few) }, (_, index) => index + 1);
  test.each(histories)('in the end all is as it should be, whenever they crash (seed %i)', async (seed) => {
    const random = seededRandom(seed);
    const { client } = server();
    const at = [await server().namespace(), await server().namespace()];
    const [namespace = '', other = ''] = at;
    const owed = new Set<string>();
    const cleaned = seed % 2 === 0 ? new Set<string>() : undefined;
    const program = { Widget, at, cleaned };
    const widgets = async () => (await client.list(Widget, { namespace })).items;
    for (let round = 0; round < 4; round += 1) {
      await someWork(random, server(), Widget, at, owed);
      const { network, crash } = startProgram(server(), program);
      network.cutAfterWrites(random.int(0, 20), { late: random.next() < 0.5 });
      await someWork(random, server(), Widget, at, owed);
      await until('it is cut off or at rest', async () => network.isCut || isAtRest(await widgets()));
      await crash();
    }
    const { crash } = startProgram(server(), program);
    const living = (await widgets()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const desired = living.map(desiredBy);
    const right = [desired.flatMap(([own]) => own).sort(), desired.flatMap(([, far]) => far).sort()];
    await until('all is there, and nothing else', async () => {
      const found = [await namesOf(client, Secret, namespace), await namesOf(client, Secret, other)];
      return isAtRest(await widgets()) && JSON.stringify(found) === JSON.stringify(right);
    });
    // Those that have become nothing need none for it. It goes last, after all that shows from outside.
    const held = ({ spec }: Widget) => (spec?.size === 0 ? 0 : 1) + (cleaned === undefined ? 0 : 2);
    await until('each has the finalizers that it needs', async () => {
      const finalizers = (await widgets()).map(({ metadata }) => metadata.finalizers?.length ?? 0);
      return JSON.stringify(finalizers) === JSON.stringify(living.map(held));
    });
    expect([...owed].filter((line) => !cleaned?.has(line))).toEqual([]);
    await crash();
  });
});
