import type { TestEnvironment } from '@riata/testing';
import fc from 'fast-check';
import type { KubeClient, Run } from 'riata/client';
import { ConfigMap, Secret } from 'riata/kinds';
import type { Kind, KubeObject, NamespacedMeta, WriteOf } from 'riata/object';
import { Apply, setIdentity, setMarks } from 'riata/patterns';
import { silentLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { describedServer, describeServers, uniqueName } from './servers.js';

type KindName = 'ConfigMap' | 'Secret';
type Data = Readonly<Record<string, string>>;

/** Which kind, namespace (0 or 1) and name. */
type Place = readonly [kind: KindName, namespace: number, name: string];

/** The changes that another client makes to the cluster. */
type Foreign =
  | { readonly do: 'set'; readonly place: Place; readonly key: string; readonly value: string }
  | { readonly do: 'unset'; readonly place: Place; readonly key: string }
  | { readonly do: 'delete'; readonly place: Place }
  | { readonly do: 'unlabel'; readonly place: Place }
  | { readonly do: 'make'; readonly place: Place };

interface Step {
  readonly desired: ReadonlyMap<string, { readonly place: Place; readonly data: Data }>;
  /** After how many requests the process dies, and the next one goes on with the next step. */
  readonly crashAfter: number | undefined;
  readonly concurrency: number;
  readonly foreign: readonly Foreign[];
}

interface Stored extends KubeObject {
  readonly metadata: NamespacedMeta;
  readonly data?: Data;
}
type StoredKind = Kind<Stored, WriteOf<Stored>, 'Namespaced'>;

const kinds = { ConfigMap: ConfigMap as unknown as StoredKind, Secret: Secret as unknown as StoredKind };
const place = (names: readonly string[]): fc.Arbitrary<Place> =>
  fc.tuple(fc.constantFrom<KindName>('ConfigMap', 'Secret'), fc.nat(1), fc.constantFrom(...names));
const ours = place(['a', 'b', 'c']);
/** Base64, so that the same is good for Secrets. */
const value = fc.constantFrom('AAAA', 'BBBB', 'CCCC');
const data = fc.dictionary(fc.constantFrom('x', 'y', 'z'), value, { maxKeys: 3 });
const desired = fc
  .array(fc.record({ place: ours, data }), { maxLength: 5 })
  .map((list) => new Map(list.map((item) => [item.place.join('/'), item])));
const foreign: fc.Arbitrary<Foreign> = fc.oneof(
  fc.record({
    do: fc.constant('set' as const),
    place: ours,
    key: fc.constantFrom('x', 'y', 'f1', 'f2'),
    value: fc.constantFrom('AAAA', 'DDDD'),
  }),
  fc.record({ do: fc.constant('unset' as const), place: ours, key: fc.constantFrom('x', 'y') }),
  fc.record({ do: fc.constant('delete' as const), place: ours }),
  fc.record({ do: fc.constant('unlabel' as const), place: ours }),
  fc.record({ do: fc.constant('make' as const), place: place(['d', 'e']) }),
);
const step: fc.Arbitrary<Step> = fc.record({
  desired,
  crashAfter: fc.option(fc.nat(8), { nil: undefined }),
  concurrency: fc.constantFrom(1, 4),
  foreign: fc.array(foreign, { maxLength: 3 }),
});

/** More by hand: `RIATA_RUNS=300`. */
const runsOn = { 'in-process': 12, https: 3, 'kube-apiserver': 3 };

describeServers('apply of desired sets, by chance', (server) => {
  const few = runsOn[describedServer()];
  test('any sets, crashes and foreign edits: the last set is there, nothing foreign is gone, and then nothing is written', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 4 }),
        desired,
        fc.nat(3),
        async (steps, last, threeWay) => {
          const namespaces = [await server().namespace(), await server().namespace()];
          await using world = new World(server().client, namespaces);
          for (const [index, { desired: set, crashAfter, concurrency, foreign: edits }] of steps.entries()) {
            // The annotation form comes first, if at all, and is taken over by the other one.
            await world.process(server(), crashAfter, index < threeWay ? 'three-way' : 'server-side', async (apply) => {
              await apply(set, concurrency);
            });
            await world.lookWhatWasTakenOver();
            for (const edit of edits) await world.edit(edit);
          }
          const writes = await world.process(server(), undefined, 'server-side', async (apply, count) => {
            await apply(last, 4);
            const before = count();
            await apply(last, 4);
            return count() - before;
          });
          expect(await world.state(last)).toEqual(world.expected(last));
          expect(writes).toBe(0);
        },
      ),
      { numRuns: Number(process.env.RIATA_RUNS ?? few) },
    );
  });
});

class World implements AsyncDisposable {
  readonly #client: KubeClient;
  readonly #namespaces: readonly string[];
  readonly #setId = uniqueName('set-');
  /** Keys that another client has written, by place: they may stay. */
  readonly #touched = new Map<string, Set<string>>();
  /** What belongs to no set, by place. */
  readonly #foreign = new Map<string, Place>();

  constructor(client: KubeClient, namespaces: readonly string[]) {
    this.#client = client;
    this.#namespaces = namespaces;
  }

  /** A process that knows nothing, until it ends or dies. */
  async process<T>(
    server: TestEnvironment,
    crashAfter: number | undefined,
    mode: 'server-side' | 'three-way',
    work: (apply: (set: Step['desired'], concurrency: number) => Promise<unknown>, count: () => number) => Promise<T>,
  ): Promise<T | undefined> {
    const runtime = { log: silentLogger };
    await using connection = server.connect();
    let [requests, isDead] = [0, false];
    const client = connection.client.wrap((run): Run => {
      return async (operation) => {
        const isFree = operation.verb === 'list' && operation.kind.projection === 'metadata';
        if (!isFree && crashAfter !== undefined && requests >= crashAfter) {
          isDead = true;
          throw new Error('the process is dead');
        }
        if (!isFree) requests += 1;
        return run(operation);
      };
    });
    const applier = new Apply(client, { setId: this.#setId, mode, runtime });
    try {
      return await work(
        (set, concurrency) =>
          applier.apply(
            [...set.values()].map((item) => this.#object(item)),
            { concurrency },
          ),
        () => connection.requests.select({ verb: 'write' }).length,
      );
    } catch (error) {
      if (!isDead) throw error;
      return undefined;
    }
  }

  async edit(edit: Foreign): Promise<void> {
    const [kind, , name] = edit.place;
    const key = this.#key(edit.place);
    const found = await this.#client.find(kinds[kind], key);
    if (edit.do === 'make') {
      if (found === undefined) await this.#client.create(this.#object({ place: edit.place, data: { own: 'AAAA' } }));
      this.#foreign.set(edit.place.join('/'), edit.place);
    }
    if (found === undefined) return;
    if (edit.do === 'delete') {
      await this.#client.delete(kinds[kind], key);
      this.#foreign.delete(edit.place.join('/'));
      this.#touched.delete(edit.place.join('/'));
    }
    const patch = (body: object) => this.#client.patch(kinds[kind], key, { type: 'merge', body: body as never });
    if (edit.do === 'set') {
      await patch({ data: { [edit.key]: edit.value } });
      const touched = this.#touched.get(edit.place.join('/')) ?? new Set();
      this.#touched.set(edit.place.join('/'), touched.add(edit.key));
    }
    if (edit.do === 'unset') await patch({ data: { [edit.key]: null } });
    // Out of the set: without an owner, until the set includes it again.
    if (edit.do === 'unlabel') {
      await patch({ metadata: { labels: { [setMarks.hash]: null } } });
      if (name) this.#foreign.set(edit.place.join('/'), edit.place);
    }
  }

  /** An object that the set includes again after its removal belongs to it, if it was applied before a crash. */
  async lookWhatWasTakenOver(): Promise<void> {
    const { hash } = setIdentity({ setId: this.#setId });
    for (const [at, found] of [...this.#foreign]) {
      const object = await this.#client.find(kinds[found[0]], this.#key(found));
      if (object?.metadata.labels?.[setMarks.hash] === hash) this.#foreign.delete(at);
    }
  }

  /** All that is there, without what others added. */
  async state(last: Step['desired']): Promise<object> {
    const { hash } = setIdentity({ setId: this.#setId });
    const found: Record<string, unknown> = {};
    for (const [index, namespace] of this.#namespaces.entries()) {
      for (const [kind, of] of Object.entries(kinds)) {
        const { items } = await this.#client.list(of, { namespace });
        for (const { metadata, data: stored = {} } of items) {
          const at = `${kind}/${index}/${metadata.name}`;
          if (metadata.name === 'kube-root-ca.crt') continue;
          const mine = last.get(at)?.data ?? {};
          const others = this.#touched.get(at);
          const kept = Object.entries(stored).filter(([key]) => Object.hasOwn(mine, key) || !others?.has(key));
          found[at] = {
            inSet: metadata.labels?.[setMarks.hash] === hash,
            ...(last.has(at) && { data: Object.fromEntries(kept) }),
          };
        }
      }
    }
    return found;
  }

  expected(last: Step['desired']): object {
    const requested = Object.fromEntries([...last].map(([at, item]) => [at, { inSet: true, data: item.data }]));
    const kept = [...this.#foreign.keys()].filter((at) => !last.has(at)).map((at) => [at, { inSet: false }]);
    return { ...Object.fromEntries(kept), ...requested };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const namespace of this.#namespaces) {
      for (const kind of Object.values(kinds)) await this.#client.deleteCollection(kind, { namespace });
    }
  }

  #key([, namespace, name]: Place) {
    return { namespace: this.#namespaces[namespace] as string, name };
  }

  #object({ place: at, data: content }: { readonly place: Place; readonly data: Data }) {
    return kinds[at[0]]({ metadata: this.#key(at), data: content });
  }
}
