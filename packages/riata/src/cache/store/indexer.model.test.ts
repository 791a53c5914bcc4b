import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';
import { createIndexer, type Indexer } from './indexer.js';
import type { Transaction, TransactionStore } from './store.js';

interface Thing {
  readonly id: string;
  readonly tags: readonly string[];
  readonly metadata: { readonly resourceVersion: string };
}

/** A list of things and of index names; every question is answered by looking through all of it. */
class Model {
  things: Thing[] = [];
  readonly indexes = new Set<IndexName>();
  version = '';

  put(thing: Thing): void {
    this.drop(thing.id);
    this.things.push(thing);
    this.version = thing.metadata.resourceVersion;
  }

  drop(id: string): void {
    this.things = this.things.filter((thing) => thing.id !== id);
  }
}

const indexFuncs = {
  byTag: ({ tags }: Thing) => tags,
  byFirst: ({ tags }: Thing) => tags.slice(0, 1),
  byCount: ({ tags }: Thing) => [String(tags.length)],
};
type IndexName = keyof typeof indexFuncs;
const indexNames = Object.keys(indexFuncs) as IndexName[];

type Real = Indexer<Thing> & TransactionStore<Thing>;
type Command = fc.Command<Model, Real>;

const byId = (things: Iterable<Thing>) => [...things].sort((a, b) => (a.id < b.id ? -1 : 1));

function command(name: string, run: (model: Model, real: Real) => void): Command {
  return {
    check: () => true,
    toString: () => name,
    run: (model, real) => {
      run(model, real);
      expect(byId(real.list())).toEqual(byId(model.things));
      expect(real.listKeys().sort()).toEqual(model.things.map(({ id }) => id).sort());
      expect(real.lastStoreSyncResourceVersion()).toBe(model.version);
      for (const index of model.indexes) {
        const valuesOf = indexFuncs[index];
        const values = new Set(model.things.flatMap(valuesOf));
        expect(real.listIndexFuncValues(index).sort()).toEqual([...values].sort());
        for (const value of [...values, 'none']) {
          const having = model.things.filter((thing) => valuesOf(thing).includes(value));
          expect(byId(real.byIndex(index, value))).toEqual(byId(having));
          expect(real.indexKeys(index, value).sort()).toEqual(having.map(({ id }) => id).sort());
        }
      }
    },
  };
}

const id = fc.constantFrom('a', 'b', 'c', 'd');
const thing: fc.Arbitrary<Thing> = fc.record({
  id,
  tags: fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 3 }),
  metadata: fc.record({ resourceVersion: fc.nat(1000).map(String) }),
});
const write = fc.oneof(
  fc.record({ type: fc.constantFrom('Add' as const, 'Update' as const), object: thing }),
  fc.record({ type: fc.constant('Delete' as const), object: thing }),
);

function carryOut(model: Model, { type, object }: Transaction<Thing>): void {
  if (type !== 'Delete') model.put(object);
  else if (!(object instanceof DeletedFinalStateUnknown)) {
    model.drop(object.id);
    model.version = object.metadata.resourceVersion;
  }
}

const commands = fc.commands(
  [
    write.map((write) =>
      command(`${write.type} ${JSON.stringify(write.object)}`, (model, real) => {
        carryOut(model, write);
        real[write.type === 'Delete' ? 'delete' : write.type === 'Add' ? 'add' : 'update'](write.object);
      }),
    ),
    fc.array(write, { maxLength: 5 }).map((writes) =>
      command(`transaction ${JSON.stringify(writes)}`, (model, real) => {
        for (const write of writes) carryOut(model, write);
        real.transaction(writes);
      }),
    ),
    id.map((id) =>
      command(`delete tombstone ${id}`, (model, real) => {
        model.drop(id);
        real.delete(new DeletedFinalStateUnknown(id));
      }),
    ),
    fc.uniqueArray(thing, { selector: ({ id }) => id }).map((list) =>
      command(`replace ${JSON.stringify(list)}`, (model, real) => {
        model.things = list;
        model.version = '2000';
        real.replace(list, '2000');
      }),
    ),
    fc.constantFrom(...indexNames).map((index) =>
      command(`addIndexers ${index}`, (model, real) => {
        const add = () => real.addIndexers({ [index]: indexFuncs[index] });
        if (model.indexes.has(index)) expect(add).toThrow('already exists');
        else add();
        model.indexes.add(index);
        expect(Object.keys(real.getIndexers()).sort()).toEqual([...model.indexes].sort());
      }),
    ),
    thing.map((thing) =>
      command(`index ${JSON.stringify(thing)}`, (model, real) => {
        for (const index of model.indexes) {
          const desired = indexFuncs[index](thing);
          const sharing = model.things.filter((other) => indexFuncs[index](other).some((v) => desired.includes(v)));
          expect(byId(real.index(index, thing))).toEqual(byId(sharing));
        }
        expect(real.get(thing)).toEqual(model.things.find(({ id }) => id === thing.id));
      }),
    ),
    fc.nat(1000).map((version) =>
      command(`bookmark ${version}`, (model, real) => {
        model.version = String(version);
        real.bookmark(String(version));
      }),
    ),
  ],
  { maxCommands: 60 },
);

test('an indexer does what a list of objects does', () => {
  fc.assert(
    fc.property(commands, (commands) => {
      fc.modelRun(
        () => ({ model: new Model(), real: createIndexer<Thing>({ keyFunc: (thing) => thing.id }) }),
        commands,
      );
    }),
    { numRuns: 200 },
  );
});
