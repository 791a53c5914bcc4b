import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.js';
import type { ManagedFieldsEntry } from '../meta.js';
import { excludeFields } from './fields/field-filter.js';
import { type TrackUpdateRequest, trackUpdate } from './track-update.js';
import { widget, widgetType } from './widget.fixture.js';

const request: TrackUpdateRequest = {
  apiVersion: 'x.dev/v1',
  kind: 'Widget',
  type: widgetType,
  live: undefined,
  object: widget({}),
  manager: 'una',
  now: 0,
};
const entry = (over: object = {}): ManagedFieldsEntry => ({
  manager: 'una',
  operation: 'Update',
  apiVersion: 'x.dev/v1',
  time: '1970-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': { 'f:replicas': {} } },
  ...over,
});
const stored = (spec: JsonObject, ...managedFields: ManagedFieldsEntry[]) =>
  widget(spec, { uid: 'u', managedFields: managedFields as never });
const track = (over: Partial<TrackUpdateRequest>) => trackUpdate({ ...request, ...over });

describe('a create', () => {
  test('owns all that is set; a struct that is always there is not owned itself', () => {
    const object = widget({ replicas: 1, labels: { a: 'x' } }, { labels: { b: 'y' } });
    expect(track({ object })?.[0]?.fieldsV1).toEqual({
      'f:metadata': { 'f:labels': { '.': {}, 'f:b': {} } },
      'f:spec': { '.': {}, 'f:labels': { '.': {}, 'f:a': {} }, 'f:replicas': {} },
    });
    const empty = { apiVersion: 'x.dev/v1', kind: 'Widget', metadata: {}, spec: {} };
    expect(track({ object, empty })?.[0]?.fieldsV1).toMatchObject({
      'f:spec': { 'f:labels': { '.': {}, 'f:a': {} }, 'f:replicas': {} },
    });
  });

  test('of nothing but a name leaves no entry', () => {
    expect(track({ object: { apiVersion: 'x.dev/v1', kind: 'Widget', metadata: { name: 'w' } } })).toBeUndefined();
  });

  test('without a manager', () => {
    expect(track({ object: widget({ replicas: 1 }), manager: '' })?.[0]?.manager).toBe('unknown');
  });
});

describe('an update', () => {
  test('adds what it changes to what the manager has, and takes it from others', () => {
    const live = stored(
      { replicas: 1, paused: true },
      entry(),
      entry({ manager: 'vic', fieldsV1: { 'f:spec': { 'f:paused': {} } } }),
    );
    const object = widget({ replicas: 1, paused: false });
    expect(track({ live, object, now: 5_000 })).toEqual([
      entry({ time: '1970-01-01T00:00:05Z', fieldsV1: { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } } }),
    ]);
  });

  test('that changes nothing changes no entry', () => {
    const live = stored({ replicas: 1 }, entry());
    expect(track({ live, object: widget({ replicas: 1 }), now: 5_000 })).toEqual([entry()]);
  });

  test('that removes a field removes it from everyone', () => {
    const live = stored({ replicas: 1, paused: true }, entry(), entry({ operation: 'Apply', manager: 'ann' }));
    expect(track({ live, object: widget({ paused: true }), manager: 'vic' })).toBeUndefined();
  });

  test('of an object without entries starts none', () => {
    expect(track({ live: stored({}), object: widget({ replicas: 1 }) })).toBeUndefined();
  });

  test('does not reach what is reset', () => {
    const live = stored({ replicas: 1 }, entry());
    const object = { ...widget({ replicas: 2 }), status: { phase: 'x' } };
    const status = { subresource: 'status', resetFields: excludeFields(['spec']) };
    expect(track({ live, object, ...status })).toEqual([
      entry(),
      entry({ subresource: 'status', fieldsV1: { 'f:status': { '.': {}, 'f:phase': {} } } }),
    ]);
  });

  test('of what is not of its type clears the entries', () => {
    const live = stored({ replicas: 1 }, entry());
    expect(track({ live, object: widget({ x: 1 }) })).toBeUndefined();
  });

  test('may bring duplicates', () => {
    const live = stored({ replicas: 1 }, entry());
    expect(track({ live, object: widget({ replicas: 1, set: ['a', 'a'] }) })?.[0]?.fieldsV1).toEqual({
      'f:spec': { 'f:replicas': {}, 'f:set': { '.': {}, 'v:"a"': {} } },
    });
  });
});

describe('entries sent with the object', () => {
  const live = stored({ replicas: 1 }, entry());
  const sent = (managedFields: unknown, over: Partial<TrackUpdateRequest> = {}) =>
    track({ live, object: widget({ replicas: 1 }, { managedFields: managedFields as never }), ...over });

  test('replace the live ones', () => {
    const other = entry({ manager: 'ann', operation: 'Apply' });
    expect(sent([other])).toEqual([other]);
  });

  test.each([[[]], [[{}]], [[{ manager: '' }]]])('reset them: %j', (entries) => {
    expect(sent(entries)).toBeUndefined();
  });

  test.each([[[entry({ operation: 'x' })]], [[{ fieldsV1: {} }]], [undefined], [null]])(
    'are ignored: %j',
    (entries) => {
      expect(sent(entries)).toEqual([entry()]);
    },
  );

  test('through a subresource are ignored', () => {
    expect(sent([], { subresource: 'status' })).toEqual([entry()]);
  });

  test('live ones that cannot be read are dropped', () => {
    const broken = stored({ replicas: 1 }, entry({ fieldsType: 'x' }));
    expect(track({ live: broken, object: widget({ replicas: 2 }) })).toBeUndefined();
  });
});
