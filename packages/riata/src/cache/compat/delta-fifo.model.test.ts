import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';
import type { Deltas, ObjectDelta } from '../informer/delta.js';
import { RequeueError } from '../informer/queue.js';
import { DeltaFIFO } from './delta-fifo.js';
import { nameOf, type Thing, thing } from './fifo.fixture.js';

/** A line of changes, looked through from start to end; what the reader knows; what of the first batch is left. */
class Model {
  line: Item[] = [];
  underway: Item | undefined;
  known = new Map<string, Thing>();
  initial: string[] = [];
  populated = false;

  at(key: string): Item | undefined {
    return this.line.find((item) => item.key === key);
  }

  append(key: string, delta: ObjectDelta<Thing>): void {
    const item = this.at(key);
    if (item === undefined) this.line.push({ key, deltas: [delta] });
    else item.deltas = merged([...item.deltas, delta]);
  }

  /** The object as it will be known when all that is underway and in line is processed. */
  future(key: string): Thing | undefined {
    const after = new Map(this.known);
    process(after, this.underway?.deltas ?? []);
    for (const { deltas } of this.line) process(after, deltas);
    return after.get(key);
  }

  synced(): boolean {
    return this.populated && this.initial.length === 0;
  }
}

interface Item {
  readonly key: string;
  deltas: ObjectDelta<Thing>[];
}

/** Of deletions in a row the first that knows the final state, else the last one. */
function merged(deltas: ObjectDelta<Thing>[]): ObjectDelta<Thing>[] {
  const [a, b] = deltas.slice(-2);
  if (a?.type !== 'Deleted' || b?.type !== 'Deleted') return deltas;
  return [...deltas.slice(0, -2), a.object instanceof DeletedFinalStateUnknown ? b : a];
}

interface Real {
  readonly queue: DeltaFIFO<Thing>;
  readonly known: Map<string, Thing>;
}
type Command = fc.AsyncCommand<Model, Real>;

function command(name: string, run: (model: Model, real: Real) => Promise<void> | void): Command {
  return {
    check: () => true,
    toString: () => name,
    run: async (model, real) => {
      await run(model, real);
      expect(real.queue.listKeys()).toEqual(model.line.map(({ key }) => key));
      expect(real.queue.list()).toEqual(model.line.map(({ deltas }) => deltas));
      expect(real.queue.hasSynced()).toBe(model.synced());
      expect(real.known).toEqual(model.known);
    },
  };
}

/** What an informer does with changes. */
function process(known: Map<string, Thing>, deltas: Deltas<Thing>): void {
  for (const { type, object } of deltas) {
    const key = object instanceof DeletedFinalStateUnknown ? object.key : object.name;
    if (type === 'Deleted') known.delete(key);
    else known.set(key, object as Thing);
  }
}

const name = fc.constantFrom('a', 'b', 'c', 'd');
const someThing = fc.tuple(name, fc.nat(99)).map(([name, val]) => thing(name, val));

/** One call, on the queue and on the model. */
type Act = readonly [name: string, act: (model: Model, queue: DeltaFIFO<Thing>) => void];

const write = (type: 'Added' | 'Updated') =>
  someThing.map<Act>((object) => [
    `${type} ${JSON.stringify(object)}`,
    (model, queue) => {
      queue[type === 'Added' ? 'add' : 'update'](object);
      model.append(object.name, { type, object });
      model.populated = true;
    },
  ]);

const remove = fc.tuple(someThing, fc.boolean()).map<Act>(([object, isTombstone]) => [
  `delete ${JSON.stringify(object)} ${isTombstone}`,
  (model, queue) => {
    const what = isTombstone ? new DeletedFinalStateUnknown(object.name, object) : object;
    queue.delete(what);
    const isThere = model.future(object.name) !== undefined || model.at(object.name) !== undefined;
    if (isThere) model.append(object.name, { type: 'Deleted', object: what });
    model.populated = true;
  },
]);

const replace = fc.array(someThing, { maxLength: 4 }).map<Act>((list) => [
  `replace ${JSON.stringify(list)}`,
  (model, queue) => {
    queue.replace(list, '1');
    const keys = new Set([...model.line.map(({ key }) => key), ...model.known.keys(), model.underway?.key ?? 'none']);
    const vanishing = [...keys].filter((key) => !list.some(({ name }) => name === key));
    const futures = new Map(vanishing.map((key) => [key, model.future(key)]));
    for (const object of list) model.append(object.name, { type: 'Replaced', object });
    for (const [key, obj] of futures) {
      const last = model.at(key)?.deltas.at(-1);
      if (obj !== undefined) model.append(key, { type: 'Deleted', object: new DeletedFinalStateUnknown(key, obj) });
      // Reported again, with the same tombstone.
      else if (last?.type !== 'Deleted') expect(model.at(key)).toBeUndefined();
    }
    if (!model.populated) model.initial = model.line.map(({ key }) => key);
    model.populated = true;
  },
]);

const resync = fc.constant<Act>([
  'resync',
  (model, queue) => {
    queue.resync();
    for (const [key, object] of model.known) {
      if (!model.at(key) && model.underway?.key !== key) model.append(key, { type: 'Sync', object });
    }
  },
]);

const act = fc.oneof(write('Added'), write('Updated'), remove, replace, resync);

const pop = fc
  .tuple(fc.constantFrom('no', 'error', 'requeue'), fc.array(act, { maxLength: 3 }))
  .map(([fails, meanwhile]) =>
    command(`pop ${fails} {${meanwhile.map(([name]) => name)}}`, async (model, { queue, known }) => {
      const item = model.line.shift();
      if (item === undefined) return;
      model.underway = item;
      const popped = queue.pop(async (deltas, isInInitialList) => {
        expect(deltas).toEqual(item.deltas);
        expect(isInInitialList).toBe(model.initial.includes(item.key));
        await Promise.resolve();
        for (const [, act] of meanwhile) act(model, queue);
        if (fails === 'requeue') throw new RequeueError('again');
        process(known, deltas);
        if (fails === 'error') throw new Error('failed');
      });
      if (fails === 'no') await popped;
      else await expect(popped).rejects.toBeDefined();
      model.underway = undefined;
      if (fails !== 'requeue') {
        process(model.known, item.deltas);
        model.initial = model.initial.filter((key) => key !== item.key);
        return;
      }
      const newer = model.at(item.key);
      if (newer === undefined) model.line.push(item);
      else newer.deltas = [...item.deltas, ...newer.deltas];
    }),
  );

const commands = fc.commands([act.map(([name, act]) => command(name, (model, { queue }) => act(model, queue))), pop], {
  maxCommands: 60,
});

test('a DeltaFIFO does what a line of changes does', async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (commands) => {
      await fc.asyncModelRun(() => {
        const known = new Map<string, Thing>();
        const knownObjects = { listKeys: () => [...known.keys()], getByKey: (key: string) => known.get(key) };
        return { model: new Model(), real: { known, queue: new DeltaFIFO<Thing>({ keyFunc: nameOf, knownObjects }) } };
      }, commands);
    }),
    { numRuns: 200 },
  );
});

test('whatever happens between two lists, the reader knows the second one after it', async () => {
  await fc.assert(
    fc.asyncProperty(commands, fc.uniqueArray(someThing, { selector: nameOf }), async (commands, list) => {
      const known = new Map<string, Thing>();
      const knownObjects = { listKeys: () => [...known.keys()], getByKey: (key: string) => known.get(key) };
      const queue = new DeltaFIFO<Thing>({ keyFunc: nameOf, knownObjects });
      await fc.asyncModelRun(() => ({ model: new Model(), real: { known, queue } }), commands);
      queue.replace(list, '2');
      queue.close();
      while (queue.listKeys().length > 0) await queue.pop((deltas) => process(known, deltas));
      expect([...known.values()].sort((a, b) => (a.name < b.name ? -1 : 1))).toEqual(
        [...list].sort((a, b) => (a.name < b.name ? -1 : 1)),
      );
      expect(queue.hasSynced()).toBe(true);
    }),
    { numRuns: 50 },
  );
});
