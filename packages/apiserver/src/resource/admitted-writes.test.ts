import './kind-parts.fixture.js';
import type { JsonObject, KubeObject } from 'riata/object';
import { seededRandom, VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { inSlices, wait } from '../steps.js';
import { MemoryStorage } from '../storage/memory-storage.js';
import { builtInResources } from './built-in/built-in-resource.js';
import { deleteSteps } from './delete-object.js';
import { ObjectStore } from './object-store.js';
import type { Resource } from './resource.js';
import type { WriteAdmission } from './write-context.js';

const configMaps = builtInResources().find(({ table }) => table === '/configmaps') as Resource;

const plain = {
  ...{ dryRun: false, fieldManager: 'test', fieldValidation: 'Strict' as const, warn: () => {} },
  now: '2026-01-02T03:04:05Z',
  nowMs: Date.parse('2026-01-02T03:04:05Z'),
};

const configMap = (data: JsonObject, metadata: JsonObject = { name: 'c' }) => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', ...metadata }, data },
});

function setup(own: Partial<WriteAdmission> = {}) {
  const clock = new VirtualClock();
  const store = new ObjectStore(new MemoryStorage({ clock }), seededRandom('admitted'), () => {});
  const asked: unknown[] = [];
  const note = (phase: string, operation: string, object?: JsonObject, oldObject?: JsonObject) => {
    const metadata = object?.metadata as JsonObject | undefined;
    const uid = metadata && 'uid' in metadata && metadata.uid !== undefined;
    asked.push([phase, operation, object?.data, oldObject?.data, ...(uid ? ['uid'] : [])]);
  };
  const admission: WriteAdmission = {
    needsManagedFields: () => false,
    // biome-ignore lint/correctness/useYield: it waits for nothing.
    *admit(operation, object, oldObject) {
      note('admit', operation, object, oldObject);
      return { ...object, data: { ...(object.data as JsonObject), more: '1' } };
    },
    // biome-ignore lint/correctness/useYield: it waits for nothing.
    *validate(operation, object, oldObject) {
      note('validate', operation, object, oldObject);
    },
    // biome-ignore lint/correctness/useYield: it waits for nothing.
    *admitDelete(oldObject) {
      note('admit', 'DELETE', undefined, oldObject);
    },
    ...own,
  };
  return { clock, store, asked, context: { ...plain, admission } };
}

test('runs admission before and after an object is prepared', async () => {
  const { clock, store, asked, context } = setup();
  const made = await inSlices(clock, store.createSteps(configMaps, 'default', configMap({ a: '1' }), context));
  expect(made).toMatchObject({ data: { a: '1', more: '1' } });
  expect(asked).toEqual([
    ['admit', 'CREATE', { a: '1' }, undefined],
    ['validate', 'CREATE', { a: '1', more: '1' }, undefined, 'uid'],
  ]);
  asked.length = 0;
  const change = { subresource: '', make: () => configMap({ a: '2' }), expected: {} };
  await inSlices(clock, store.updateSteps(configMaps, 'default', 'c', change, context));
  expect(asked).toEqual([
    ['admit', 'UPDATE', { a: '2' }, { a: '1', more: '1' }],
    ['validate', 'UPDATE', { a: '2', more: '1' }, { a: '1', more: '1' }, 'uid'],
  ]);
  asked.length = 0;
  await inSlices(clock, deleteSteps(store, configMaps, 'default', 'c', {}, context));
  expect(asked).toEqual([['admit', 'DELETE', undefined, { a: '2', more: '1' }]]);
});

test('passes managedFields to plugins that need them; fields that admission adds have no manager', async () => {
  let shown: JsonObject | undefined;
  const { clock, store, context } = setup({
    needsManagedFields: () => true,
    // biome-ignore lint/correctness/useYield: it waits for nothing.
    *admit(_, object) {
      shown = object;
      return { ...object, data: { a: '1', b: '2' } };
    },
  });
  const made = await inSlices(clock, store.createSteps(configMaps, 'default', configMap({ a: '1' }), context));
  const fieldsV1 = { 'f:data': { '.': {}, 'f:a': {} } };
  expect(shown).toMatchObject({ metadata: { managedFields: [{ fieldsV1 }] } });
  expect(made.metadata.managedFields).toMatchObject([{ fieldsV1 }]);
});

test('runs admission again if the object has changed meanwhile', async () => {
  let asked = 0;
  const { clock, store, context } = setup({
    *validate(_, object) {
      asked += 1;
      if (asked === 1) yield* wait(Promise.resolve());
      else expect(object.data).toEqual({ x: '1', more: '1' });
    },
    *admitDelete() {
      asked += 1;
      yield* wait(Promise.resolve());
    },
  });
  store.create(configMaps, 'default', configMap({ x: '0' }), plain);
  const write = (data: JsonObject, using: typeof plain) => {
    const make = (live: JsonObject) => ({ ...live, data: { ...(live.data as JsonObject), ...data } });
    return store.updateSteps(configMaps, 'default', 'c', { subresource: '', make }, using);
  };
  const first = inSlices(clock, write({}, context));
  await inSlices(clock, write({ x: '1' }, plain));
  expect((await first).object).toMatchObject({ data: { x: '1', more: '1' } });
  expect(asked).toBe(2);
  const deleting = inSlices(clock, deleteSteps(store, configMaps, 'default', 'c', {}, context));
  await inSlices(clock, write({ x: '2' }, plain));
  await deleting;
  expect(asked).toBe(4);
});

test('refuses a stale resourceVersion after admission, as upstream does', async () => {
  const { clock, store, asked, context } = setup();
  store.create(configMaps, 'default', configMap({}), plain);
  const stale = configMap({}, { name: 'c', resourceVersion: '12345' });
  const change = { subresource: '', make: () => stale, expected: {} };
  const write = async (): Promise<{ object: KubeObject }> =>
    inSlices(clock, store.updateSteps(configMaps, 'default', 'c', change, context));
  await expect(write()).rejects.toThrow(/the object has been modified/);
  expect(asked).toHaveLength(1);
});
