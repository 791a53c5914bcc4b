import { expect, test } from 'vitest';
import type { Write } from '../../client/operation/write-hook.js';
import { Deployment } from '../../kinds/index.js';
import type { KubeObject } from '../../object/meta.js';
import { noMetrics } from '../../runtime/metrics.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { OwnWrites } from './own-writes.js';
import { recordOwnWrite } from './record-own-write.js';

const at = { kind: Deployment, namespace: 'shop', name: 'cart', params: {} };

function stored(resourceVersion: string, metadata: object = {}): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'shop', name: 'cart', uid: 'u1', resourceVersion, creationTimestamp: '', ...metadata },
  };
}

function recorded(...writes: readonly object[]) {
  const own = new OwnWrites<KubeObject>({ clock: new VirtualClock(), metrics: noMetrics, name: 'deployments' });
  own.shownAll('10');
  const admit = (object: KubeObject) => {
    if (object.metadata.labels?.puzzling) return undefined;
    return { object: object.metadata.labels?.skip ? undefined : structuredClone(object) };
  };
  for (const write of writes) recordOwnWrite(write as Write, { kind: Deployment, writes: own, admit });
  return { own, seen: own.view('shop/cart', stored('9')) };
}

test.each(['create', 'update', 'patch'])('%s: what the server answered is seen', (verb) => {
  const { seen } = recorded({ operation: { ...at, verb }, answer: stored('12') });
  expect(seen?.metadata.resourceVersion).toBe('12');
});

test('the status subresource answers with the whole object', () => {
  const { seen } = recorded({ operation: { ...at, verb: 'patch', subresource: 'status' }, answer: stored('12') });
  expect(seen?.metadata.resourceVersion).toBe('12');
});

test('what the cache leaves out is no longer seen', () => {
  const answer = stored('12', { labels: { skip: 'yes' } });
  expect(recorded({ operation: { ...at, verb: 'update' }, answer }).seen).toBeUndefined();
});

test('marks writes as uncertain that only the watch can show', () => {
  const answer = stored('12', { labels: { puzzling: 'yes' } });
  const { own } = recorded({ operation: { ...at, verb: 'update' }, answer });
  expect(own.uncertainWriteOf('shop/cart')).toEqual({ resourceVersion: '12' });
});

test('other kinds are none of its business', () => {
  const kind = { ...Deployment, group: 'apps', plural: 'statefulsets' };
  const { own } = recorded({ operation: { ...at, kind, verb: 'update' }, answer: stored('12') });
  expect(own.size).toBe(0);
});

test('a deletion is seen at once, by the UID in the Status', () => {
  const answer = { kind: 'Status', apiVersion: 'v1', status: 'Success', details: { name: 'cart', uid: 'u1' } };
  expect(recorded({ operation: { ...at, verb: 'delete' }, answer }).seen).toBeUndefined();
});

test('a Status that does not name what was deleted leaves an uncertain write', () => {
  const answer = { kind: 'Status', apiVersion: 'v1', status: 'Success' };
  const { own } = recorded({ operation: { ...at, verb: 'delete' }, answer });
  expect(own.uncertainKeys()).toEqual(['shop/cart']);
});

test('a deletion that waits for finalizers or a grace period shows the object as it is now', () => {
  const waiting = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['a.b/c'] };
  const { seen } = recorded({ operation: { ...at, verb: 'delete' }, answer: stored('12', waiting) });
  expect(seen?.metadata.deletionTimestamp).toBeDefined();
  const graceful = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 };
  const pod = recorded({ operation: { ...at, verb: 'delete' }, answer: stored('12', graceful) });
  expect(pod.seen?.metadata.resourceVersion).toBe('12');
});

test('a deletion answered with the object that is gone by then hides it', () => {
  const now = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };
  expect(recorded({ operation: { ...at, verb: 'delete' }, answer: stored('12', now) }).seen).toBeUndefined();
  expect(recorded({ operation: { ...at, verb: 'delete' }, answer: stored('9') }).seen).toBeUndefined();
});

test.each(['update', 'patch'])('%s that takes the last finalizer off what is being deleted is its end', (verb) => {
  // The answer has the revision before the deletion, which the watch has shown.
  const gone = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };
  const record = (metadata: object, rest: object = {}) =>
    recorded({ operation: { ...at, verb }, answer: { ...stored('10', metadata), ...rest } }).seen;
  expect(record(gone)).toBeUndefined();
  expect(record({ ...gone, finalizers: [] }, { apiVersion: 'apps/v1beta1' })).toBeUndefined();
  expect(record({ ...gone, finalizers: ['another/one'] })).toBeDefined();
  expect(record({ ...gone, deletionGracePeriodSeconds: 30 })).toBeDefined();
  expect(record({})).toBeDefined();
});

test('a namespace lives on until it is empty', () => {
  const deleting = stored('12', { deletionTimestamp: '2026-01-01T00:00:00Z' });
  const answer = { ...deleting, spec: { finalizers: ['kubernetes'] } };
  expect(recorded({ operation: { ...at, verb: 'delete' }, answer }).seen?.metadata.resourceVersion).toBe('12');
  expect(recorded({ operation: { ...at, verb: 'update' }, answer }).seen?.metadata.resourceVersion).toBe('12');
  const finalized = { ...deleting, spec: {} };
  const operation = { ...at, verb: 'update', subresource: 'finalize' };
  expect(recorded({ operation, answer: finalized }).seen).toBeUndefined();
});

test('a Scale has the revision, not the object: reads have to wait for that revision', () => {
  const scale = { ...stored('12'), apiVersion: 'autoscaling/v1', kind: 'Scale' };
  const { own } = recorded({ operation: { ...at, verb: 'update', subresource: 'scale' }, answer: scale });
  expect(own.uncertainWriteOf('shop/cart')).toEqual({ resourceVersion: '12' });
});

test('another version of the kind: the same', () => {
  const answer = { ...stored('12'), apiVersion: 'apps/v1beta1' };
  const { own } = recorded({ operation: { ...at, verb: 'update' }, answer });
  expect(own.uncertainWriteOf('shop/cart')).toEqual({ resourceVersion: '12' });
});

test('an eviction answers with a Status: one has to look', () => {
  const answer = { kind: 'Status', apiVersion: 'v1', status: 'Success' };
  const { own } = recorded({ operation: { ...at, verb: 'create', subresource: 'eviction' }, answer });
  expect(own.uncertainWriteOf('shop/cart')).toEqual({ resourceVersion: undefined });
});

test('a lost answer leaves an uncertain write about the object, or about all if its name is unknown', () => {
  const error = new Error('connection reset');
  expect(recorded({ operation: { ...at, verb: 'update' }, error }).own.uncertainKeys()).toEqual(['shop/cart']);
  const created = { ...at, name: undefined, verb: 'create' };
  const named = recorded({ operation: { ...created, body: { metadata: { name: 'cart' } } }, error });
  expect(named.own.uncertainKeys()).toEqual(['shop/cart']);
  const unnamed = recorded({ operation: { ...created, body: { metadata: { generateName: 'cart-' } } }, error });
  expect(unnamed.own.uncertainWriteOf('shop/any')).toEqual({ resourceVersion: undefined });
});

test('a deletion of many leaves an uncertain write about all', () => {
  const { own } = recorded({ operation: { ...at, name: undefined, verb: 'deletecollection' }, answer: { items: [] } });
  expect(own.uncertainWriteOf()).toEqual({ resourceVersion: undefined });
});
