import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Change } from './change.js';
import { isAnotherObject } from './change.js';
import { DrivenInformer, type Thing, thing } from './informer.fixture.js';

type Step =
  | { readonly do: 'put' | 'delete' | 'recreate' | 'miss'; readonly name: string }
  | { readonly do: 'relist' | 'resync' | 'settle' | 'add handler' }
  | { readonly do: 'remove handler'; readonly at: number }
  | { readonly do: 'wait'; readonly ms: number };

const name = fc.constantFrom('a', 'b', 'c');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom('put', 'delete', 'recreate', 'miss'), name }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('relist', 'resync', 'settle', 'add handler') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove handler' as const), at: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 30 }) }) },
);

/** A handler that applies every change, and notices impossible ones. */
class Believer {
  readonly known = new Map<string, Thing>();
  readonly #delay: (() => Promise<void>) | undefined;

  constructor(delay: (() => Promise<void>) | undefined) {
    this.#delay = delay;
  }

  onChange({ type, key, old, new: next }: Change<Thing>): Promise<void> | undefined {
    const before = this.known.get(key);
    if (type === 'Added') {
      expect(before, `${key} added twice`).toBeUndefined();
    } else {
      expect(before, `${key} ${type} before it was added`).toBeDefined();
      expect(isAnotherObject(before!, (next ?? old)!), `${key}: another object, not told as such`).toBe(false);
      if (type !== 'Deleted') expect(old, `${key}: a gap`).toBe(before);
    }
    if (next === undefined) this.known.delete(key);
    else this.known.set(key, next);
    return this.#delay?.();
  }
}

test('whatever happens, every handler is led from state to state and ends with what the server has', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 3 }), async (steps, bufferSize) => {
      const errors: unknown[] = [];
      const driven = new DrivenInformer({ resyncPeriod: '1s', onHandlerError: (error) => errors.push(error) });
      const server = new Map<string, Thing>();
      const handlers: { believer: Believer; registration: { remove(): Promise<void> } }[] = [];
      let version = 0;
      const addHandler = () => {
        const delay = handlers.length % 2 === 0 ? undefined : () => driven.clock.sleep(10);
        const believer = new Believer(delay);
        handlers.push({ believer, registration: driven.informer.addEventHandler(believer, { bufferSize }) });
      };
      const change = ({ do: what, name }: Step & { readonly name: string }) => {
        const old = server.get(name);
        version += 1;
        if (what === 'delete' || (what === 'miss' && version % 3 === 0)) {
          server.delete(name);
          if (old !== undefined && what === 'delete') driven.queue.delete(old);
          return;
        }
        const isNew = what === 'recreate' || old === undefined;
        const next = thing(name, version, isNew ? `uid-${version}` : old.metadata.uid);
        server.set(name, next);
        if (what !== 'miss') driven.queue.update(structuredClone(next) as Thing);
      };
      addHandler();
      addHandler();
      driven.run();
      driven.queue.replace([], '0');
      for (const each of steps) {
        if ('name' in each) change(each);
        else if (each.do === 'relist') driven.queue.replace(structuredClone([...server.values()]) as Thing[], 'x');
        else if (each.do === 'resync') driven.queue.resync();
        else if (each.do === 'settle') await driven.clock.settle();
        else if (each.do === 'wait') await driven.clock.advance(each.ms);
        else if ('at' in each) void handlers.splice(each.at, 1)[0]?.registration.remove();
        else addHandler();
      }
      driven.queue.replace(structuredClone([...server.values()]) as Thing[], 'end');
      await driven.clock.settle();
      await driven.clock.runAll();
      const desired = new Map([...server.values()].map((obj) => [`shop/${obj.metadata.name}`, obj]));
      expect(errors).toEqual([]);
      const stored = driven.informer.getStore().list();
      expect(new Map(stored.map((obj) => [`shop/${obj.metadata.name}`, obj]))).toEqual(desired);
      for (const { believer } of handlers) expect(believer.known).toEqual(desired);
      await driven.stop();
    }),
    { numRuns: 200 },
  );
});
