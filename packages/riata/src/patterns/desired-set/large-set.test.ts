import { expect, test } from 'vitest';
import type { Client, WriteObject } from '../../client/interfaces.js';
import { ConfigMap } from '../../kinds/index.js';
import type { KubeObject } from '../../object/meta.js';
import { memoryLogger } from '../../runtime/index.js';
import { WorkingClock } from '../../runtime/time/working-clock.fixture.js';
import { Apply } from './apply.js';
import { setMarks } from './set-identity.js';

const size = 500;
/** Far below the slice, so that only many of them in one turn are too long. */
const stepMs = 0.1;
const names = Array.from({ length: size }, (_, at) => `member-${String(at).padStart(3, '0')}`);

/** A step of an apply that takes {@link stepMs} for each object. */
type Step = 'find the kind' | 'prepare' | 'check the membership' | 'compare' | 'write' | 'release';

/** Applies a set against a server that answers without I/O, so that nothing but a time slice lets the event loop turn. */
function largeSet(slow: Step) {
  const clock = new WorkingClock();
  const stored = new Map<string, KubeObject>();
  const costs = (step: Step) => {
    if (step === slow) clock.work(stepMs);
  };
  /** The object, with a field that takes time to read. */
  const costly = <T extends object>(object: T, field: string, step: Step): T => {
    const value = (object as Record<string, unknown>)[field];
    const get = () => {
      costs(step);
      return value;
    };
    return Object.defineProperty({ ...object }, field, { get, enumerable: true });
  };
  const fieldsV1 = { 'f:metadata': { 'f:labels': { [`f:${setMarks.hash}`]: {} } } };
  const managedFields = [{ manager: 'riata-apply', operation: 'Apply', fieldsV1 }];
  const client = {
    scheme: {
      kindOf() {
        costs('find the kind');
        return ConfigMap;
      },
    },
    async list() {
      const items = [...stored.values()].map((object) => {
        const metadata = costly(object.metadata, 'managedFields', 'check the membership');
        return costly({ ...object, metadata }, 'data', 'compare');
      });
      return { items };
    },
    async find() {
      return undefined;
    },
    async applyFields(_kind: unknown, body: KubeObject) {
      costs('write');
      const object = { ...body, metadata: { ...body.metadata, uid: body.metadata.name, managedFields } };
      stored.set(body.metadata.name, object as KubeObject);
      return object;
    },
    async patch(_kind: unknown, { name }: { name: string }) {
      const object = stored.get(name);
      stored.delete(name);
      return object;
    },
  };
  const release = () => {
    costs('release');
    return true;
  };
  const runtime = { clock, log: memoryLogger() };
  const applier = new Apply(client as unknown as Client, { setId: 'large', lookup: 'given', release, runtime });
  const objects = names.map((name): WriteObject => {
    return costly(ConfigMap({ metadata: { name }, data: { name } }), 'data', 'prepare');
  });
  /** Runs it, and asserts that the event loop has turned often enough. */
  const inSlices = async <T>(run: () => Promise<T>): Promise<T> => {
    await clock.yield();
    clock.turns.length = 0;
    const result = await run();
    // Work after the last turn counts as well.
    await clock.yield();
    expect(clock.longestTurnMs).toBeLessThan(7);
    return result;
  };
  return { applier, objects, inSlices, clock };
}

const namesOf = (members: readonly { readonly name: string }[]) => members.map(({ name }) => name);

test.each<Step>(['find the kind', 'prepare', 'write'])('a large set is applied in slices: %s', async (step) => {
  const { applier, objects, inSlices, clock } = largeSet(step);
  const { created } = await inSlices(() => applier.apply(objects));
  expect(namesOf(created)).toEqual(names);
  expect(clock.turns.length).toBeGreaterThanOrEqual((size * stepMs) / 7);
});

test.each<Step>(['find the kind', 'prepare', 'check the membership', 'compare'])(
  'a large set that needs no write is compared in slices: %s',
  async (step) => {
    const { applier, objects, inSlices, clock } = largeSet(step);
    await applier.apply(objects);
    const { unchanged } = await inSlices(() => applier.apply(objects));
    expect(namesOf(unchanged)).toEqual(names);
    expect(clock.turns.length).toBeGreaterThanOrEqual((size * stepMs) / 7);
    const plan = await inSlices(() => applier.dryRun(objects));
    expect(namesOf(plan.unchanged)).toEqual(names);
    expect(clock.turns.length).toBeGreaterThanOrEqual((size * stepMs) / 7);
  },
);

test.each<Step>(['check the membership', 'release'])('a large set is emptied in slices: %s', async (step) => {
  const { applier, objects, inSlices, clock } = largeSet(step);
  await applier.apply(objects);
  const { released } = await inSlices(() => applier.apply([], { kinds: [ConfigMap] }));
  expect(namesOf(released)).toEqual(names);
  expect(clock.turns.length).toBeGreaterThanOrEqual((size * stepMs) / 7);
});
