import '../kind-parts.fixture.js';
import type { KubeObject } from 'riata/object';
import { expect, test } from 'vitest';
import { differsIn, inVersion } from './in-version.js';

const event = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-02T03:04:05Z' },
  involvedObject: { kind: 'Pod', name: 'p' },
  reason: 'Started',
  message: 'It began',
  source: { component: 'kubelet' },
  firstTimestamp: null,
  lastTimestamp: null,
  count: 3,
  eventTime: null,
  reportingComponent: '',
  reportingInstance: '',
} as unknown as KubeObject;

test('an Event has different field names in the other group, and converts back unchanged', () => {
  const other = inVersion(event, 'events.k8s.io/v1');
  expect(other).toMatchObject({
    apiVersion: 'events.k8s.io/v1',
    regarding: { name: 'p' },
    note: 'It began',
    deprecatedCount: 3,
  });
  expect(other).not.toHaveProperty('reportingController');
  expect(inVersion(other, 'v1')).toEqual(event);
});

test('the same object is converted once', () => {
  expect(inVersion(event, 'events.k8s.io/v1')).toBe(inVersion(event, 'events.k8s.io/v1'));
  expect(inVersion(event, 'v1')).toBe(event);
});

test('versions of most kinds differ by apiVersion only', () => {
  const widget = { ...event, apiVersion: 'example.com/v1', kind: 'Widget' } as KubeObject;
  expect(inVersion(widget, 'example.com/v2')).toEqual({ ...widget, apiVersion: 'example.com/v2' });
  expect([differsIn(widget, 'example.com/v2'), differsIn(event, 'events.k8s.io/v1')]).toEqual([false, true]);
});
