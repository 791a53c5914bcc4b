import './kind-parts.fixture.js';
import type { JsonObject, KubeObject } from 'riata/object';
import { seededRandom, VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { Refusal } from '../status/refusal.js';
import type { Steps } from '../steps.js';
import { MemoryStorage } from '../storage/memory-storage.js';
import { builtInResources } from './built-in/built-in-resource.js';
import { customResources } from './custom/custom-resources.js';
import { ObjectStore } from './object-store.js';
import { type PatchRequest, patchObject } from './patch-object.js';
import type { Resource } from './resource.js';

const context = {
  dryRun: false,
  fieldManager: 'test',
  fieldValidation: 'Strict' as const,
  warn: () => {},
  now: '2026-01-02T03:04:05Z',
  nowMs: Date.parse('2026-01-02T03:04:05Z'),
};

const text = { type: 'string', maxLength: 10 };
const spec = {
  type: 'object',
  properties: { a: text, b: text },
  'x-kubernetes-validations': [{ rule: '!has(self.a) || self.a != "bad"' }],
};
const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
const [widgets] = customResources({
  metadata: { name: 'widgets.example.com', resourceVersion: '1' },
  spec: {
    ...{ group: 'example.com', scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' } },
    versions: [{ name: 'v1', served: true, storage: true, schema }],
  },
} as unknown as JsonObject) as [Resource];

const widget = (fields: JsonObject = {}, metadata: JsonObject = {}) => ({
  ...{ apiVersion: 'example.com/v1', kind: 'Widget' },
  metadata: { name: 'w', namespace: 'default', ...metadata },
  spec: fields,
});

const newStore = () =>
  new ObjectStore(new MemoryStorage({ clock: new VirtualClock() }), seededRandom('interrupted'), () => {});

/** Runs all steps, and `other` at the first yield. */
function interrupted<T>(steps: Steps<T>, between: () => void): T {
  expect(steps.next().done).toBe(false);
  between();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

const merge = (body: JsonObject): PatchRequest => ({
  ...{ kind: 'merge', subresource: '', force: false, yamlComplaint: undefined },
  read: () => body,
  text: () => JSON.stringify(body),
});
const apply = (body: JsonObject): PatchRequest => ({ ...merge(body), kind: 'apply', text: () => undefined });
const patch = (store: ObjectStore, request: PatchRequest) =>
  patchObject(store, widgets, 'default', 'w', request, context);
const put = (store: ObjectStore, sent: JsonObject, resourceVersion: string) => {
  const change = { subresource: '', make: () => sent, expected: { resourceVersion } };
  return store.updateSteps(widgets, 'default', 'w', change, context);
};
const specOf = (object: KubeObject) => (object as unknown as JsonObject).spec;

test('a patch is repeated on an object that was written during its check', () => {
  const store = newStore();
  store.create(widgets, 'default', widget(), context);
  const { object } = interrupted(patch(store, merge({ spec: { a: 'x' } })), () => {
    interrupted(patch(store, merge({ spec: { b: 'y' } })), () => {});
  });
  expect(specOf(object)).toEqual({ a: 'x', b: 'y' });
  expect(specOf(store.get(widgets, 'default', 'w'))).toEqual({ a: 'x', b: 'y' });
});

test('a patch with a resourceVersion is refused after another write', () => {
  const store = newStore();
  store.create(widgets, 'default', widget({ b: 'x' }), context);
  const steps = patch(store, merge({ metadata: { resourceVersion: '1' }, spec: { a: 'x' } }));
  const change = () => interrupted(patch(store, merge({ spec: { b: 'y' } })), () => {});
  expect(() => interrupted(steps, change)).toThrow('the object has been modified');
});

test('the second of two PUTs with the same resourceVersion is refused', () => {
  const store = newStore();
  const { metadata } = store.create(widgets, 'default', widget(), context);
  const { resourceVersion } = metadata;
  const first = () => interrupted(put(store, widget({ b: 'y' }, { resourceVersion }), resourceVersion), () => {});
  const second = put(store, widget({ a: 'x' }, { resourceVersion }), resourceVersion);
  expect(() => interrupted(second, first)).toThrow('the object has been modified');
  expect(specOf(store.get(widgets, 'default', 'w'))).toEqual({ b: 'y' });
});

test('a create does not overwrite an object that was created meanwhile', () => {
  const store = newStore();
  const steps = store.createSteps(widgets, 'default', widget({ a: 'x' }), context);
  const make = () => void store.create(widgets, 'default', widget({ b: 'y' }), context);
  expect(() => interrupted(steps, make)).toThrow('already exists');
  expect(specOf(store.get(widgets, 'default', 'w'))).toEqual({ b: 'y' });
});

test('an update does not recreate an object that was deleted meanwhile', () => {
  const store = newStore();
  store.create(widgets, 'default', widget(), context);
  const remove = () => void store.remove(widgets, store.find(widgets, 'default', 'w')!);
  const steps = patch(store, merge({ spec: { a: 'x' } }));
  expect(() => interrupted(steps, remove)).toThrow(Refusal);
  expect(store.find(widgets, 'default', 'w')).toBeUndefined();
});

test('an apply is applied to the latest object', () => {
  const store = newStore();
  const make = () => void store.create(widgets, 'default', widget({ b: 'y' }), context);
  const remove = () => void store.remove(widgets, store.find(widgets, 'default', 'w')!);
  const steps = (a: string) => patch(store, apply(widget({ a })));
  expect(interrupted(steps('1'), make).created).toBe(false);
  expect(specOf(store.get(widgets, 'default', 'w'))).toEqual({ a: '1', b: 'y' });
  expect(interrupted(steps('2'), remove).created).toBe(true);
  expect(specOf(store.get(widgets, 'default', 'w'))).toEqual({ a: '2' });
});

test('a Service whose check takes long does not get the address of another', () => {
  const store = newStore();
  const services = builtInResources().find((r) => r.version === 'v1' && r.plural === 'services')!;
  const service = (name: string) => ({
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { name } },
    spec: { clusterIP: '', ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }], type: 'NodePort' },
  });
  const nodePort = (made: KubeObject) => JSON.stringify(specOf(made)).match(/"nodePort":(\d+)/)?.[1];
  // Since other objects are created all the time, the last attempt checks it in one turn.
  const steps = store.createSteps(services, 'default', service('slow'), context);
  const ports = new Set<string | undefined>();
  let made = 0;
  let answer = steps.next();
  for (; !answer.done; answer = steps.next()) {
    made += 1;
    ports.add(nodePort(store.create(services, 'default', service(`quick-${made}`), context)));
  }
  expect(ports.size).toBe(made);
  expect(ports.has(undefined)).toBe(false);
  expect(ports.has(nodePort(answer.value))).toBe(false);
});
