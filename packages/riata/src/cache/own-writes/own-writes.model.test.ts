import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KubeObject } from '../../object/meta.js';
import { noMetrics } from '../../runtime/metrics.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { createIndexer } from '../store/indexer.js';
import { defaultKeyFunc } from '../store/key-func.js';
import { OwnWrites } from './own-writes.js';
import { OwnWritesView } from './own-writes-view.js';

/** One state of one object on the server; `object` is undefined from its deletion on. */
interface State {
  readonly revision: number;
  readonly object: KubeObject | undefined;
}

const keys = ['a', 'b', 'c'];
const colours = ['red', 'green'];

/** A server, a watch that lags behind it, and a client whose answers come whenever they like. */
class World {
  revision = 10;
  uids = 0;
  readonly history = new Map<string, State[]>(keys.map((key) => [key, [{ revision: 0, object: undefined }]]));
  readonly events: { revision: number; key: string; old: KubeObject | undefined; now: KubeObject | undefined }[] = [];
  delivered = 0;
  /** Answers to own writes that are still on their way. */
  readonly answers: { key: string; revision: number; deliver(): void }[] = [];
  /** By key: the newest revision of which an answer has come. */
  readonly answered = new Map<string, number>();
  readonly base = createIndexer<KubeObject>({ indexers: { colour: (object) => [colourOf(object)] } });
  readonly own = new OwnWrites<KubeObject>({
    ...{ clock: new VirtualClock(), metrics: noMetrics, name: 'test' },
    shown: (key) => this.base.getByKey(key),
  });
  readonly view = new OwnWritesView(this.base, this.own, defaultKeyFunc);

  constructor() {
    this.base.replace([], '10');
    this.own.shownAll('10');
  }

  current(key: string): KubeObject | undefined {
    return this.history.get(key)?.at(-1)?.object;
  }

  write(key: string, colour: string, isOwn: boolean): void {
    const old = this.current(key);
    const revision = ++this.revision;
    const uid = old?.metadata.uid ?? `uid-${++this.uids}`;
    const now = objectOf(key, uid, revision, colour);
    this.#store(key, revision, old, now);
    if (!isOwn) return;
    this.answers.push({ key, revision, deliver: () => this.own.written(key, now.metadata, structuredClone(now)) });
  }

  remove(key: string, isOwn: boolean, reportsRevision: boolean): void {
    const old = this.current(key);
    if (old === undefined) return;
    const revision = ++this.revision;
    this.#store(key, revision, old, undefined);
    if (!isOwn) return;
    const { uid } = old.metadata;
    const deliver = () => this.own.deleted(key, uid, reportsRevision ? String(revision) : undefined);
    this.answers.push({ key, revision, deliver });
  }

  /** One event of the watch, in order. */
  deliverEvent(): void {
    const event = this.events[this.delivered];
    if (event === undefined) return;
    this.delivered += 1;
    if (event.now !== undefined) {
      this.base.update(event.now);
      this.own.shown(event.key, String(event.revision));
    } else if (event.old !== undefined) {
      this.base.delete(event.old);
      this.own.shownDeleted(event.key, event.old.metadata.uid, String(event.revision));
    }
  }

  /** The watch broke; a list of some later moment takes its place. */
  relist(upTo: number): void {
    while (this.delivered < upTo) this.delivered += 1;
    const revision = this.events[this.delivered - 1]?.revision ?? 10;
    const objects = keys.map((key) => this.at(key, revision)).filter((object) => object !== undefined);
    this.base.replace(objects, String(revision));
    this.own.shownAll(String(revision));
  }

  deliverAnswer(at: number): void {
    const [answer] = this.answers.splice(at % Math.max(1, this.answers.length), 1);
    if (answer === undefined) return;
    answer.deliver();
    this.answered.set(answer.key, Math.max(this.answered.get(answer.key) ?? 0, answer.revision));
  }

  at(key: string, revision: number): KubeObject | undefined {
    return this.history.get(key)?.findLast((state) => state.revision <= revision)?.object;
  }

  get shownRevision(): number {
    return this.events[this.delivered - 1]?.revision ?? 10;
  }

  #store(key: string, revision: number, old: KubeObject | undefined, now: KubeObject | undefined): void {
    this.history.get(key)?.push({ revision, object: now });
    this.events.push({ revision, key, old, now });
  }
}

function objectOf(name: string, uid: string, revision: number, colour: string): KubeObject {
  const metadata = { name, uid, resourceVersion: String(revision), creationTimestamp: '', labels: { colour } };
  return { apiVersion: 'v1', kind: 'Thing', metadata };
}

function colourOf(object: KubeObject): string {
  return object.metadata.labels?.colour ?? '';
}

/** What every reader may rely on, at any moment. */
function check(world: World, view: OwnWritesView<KubeObject>): void {
  const seen = keys.map((key) => [key, view.getByKey(key)] as const);
  for (const [key, object] of seen) {
    const since = Math.max(world.shownRevision, world.answered.get(key) ?? 0);
    const possible = (world.history.get(key) ?? [])
      .filter((_, at, all) => (all[at + 1]?.revision ?? Number.POSITIVE_INFINITY) > since)
      .map((state) => state.object?.metadata.resourceVersion);
    // A state that was never older than what the watch has shown and what has been answered.
    if (world.own.uncertainWriteOf(key) === undefined) expect(possible).toContain(object?.metadata.resourceVersion);
  }
  const objects = seen.map(([, object]) => object).filter((object) => object !== undefined);
  const versions = (list: readonly KubeObject[]) => list.map((o) => o.metadata.resourceVersion).sort();
  expect(versions(view.list())).toEqual(versions(objects));
  expect(view.listKeys().sort()).toEqual(objects.map((o) => o.metadata.name).sort());
  for (const colour of colours) {
    const ofColour = objects.filter((o) => colourOf(o) === colour);
    expect(versions(view.byIndex('colour', colour))).toEqual(versions(ofColour));
    expect(view.indexKeys('colour', colour).sort()).toEqual(ofColour.map((o) => o.metadata.name).sort());
  }
  expect(view.listIndexFuncValues('colour').sort()).toEqual([...new Set(objects.map(colourOf))].sort());
}

/** One thing that happens in a world; readers are asked after each. */
class Step implements fc.Command<World, OwnWritesView<KubeObject>> {
  readonly #name: string;
  readonly #happens: (world: World) => void;

  constructor(name: string, happens: (world: World) => void) {
    this.#name = name;
    this.#happens = happens;
  }

  check(): boolean {
    return true;
  }

  run(world: World, view: OwnWritesView<KubeObject>): void {
    this.#happens(world);
    check(world, view);
  }

  toString(): string {
    return this.#name;
  }
}

const key = fc.constantFrom(...keys);
const write = fc.tuple(key, fc.constantFrom(...colours), fc.boolean()).map(([of, colour, isOwn]) => {
  return new Step(`write(${of}, ${colour}${isOwn ? ', own' : ''})`, (world) => world.write(of, colour, isOwn));
});
const remove = fc.tuple(key, fc.boolean(), fc.boolean()).map(([of, isOwn, reports]) => {
  const how = `${isOwn ? ', own' : ''}${reports ? ', tells' : ''}`;
  return new Step(`remove(${of}${how})`, (world) => world.remove(of, isOwn, reports));
});
const event = fc.constant(new Step('event', (world) => world.deliverEvent()));
const answer = fc.nat(20).map((at) => new Step(`answer(${at})`, (world) => world.deliverAnswer(at)));
const relist = fc.nat(4).map((ahead) => {
  return new Step(`relist(+${ahead})`, (world) => world.relist(Math.min(world.events.length, world.delivered + ahead)));
});

test('a view is never older than the watch and one’s own writes, and nothing is left when the watch has caught up', () => {
  // As often as it is named here.
  const commands = [write, write, write, write, remove, remove, event, event, event, answer, answer, answer, relist];
  fc.assert(
    fc.property(fc.commands(commands, { maxCommands: 60, size: 'max' }), (steps) => {
      const world = new World();
      fc.modelRun(() => ({ model: world, real: world.view }), steps);
      while (world.answers.length > 0) world.deliverAnswer(0);
      while (world.delivered < world.events.length) world.deliverEvent();
      for (const of of keys) expect(world.view.getByKey(of)).toEqual(world.current(of));
    }),
    { numRuns: Number(process.env.RIATA_RUNS ?? 120) },
  );
});
