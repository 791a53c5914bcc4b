import { expect, test } from 'vitest';
import type { JsonObject } from '../json.js';
import { keepTimes } from './keep-times.js';

const object = (time: string, data = 'x', more: JsonObject[] = []): JsonObject & { metadata: JsonObject } => ({
  metadata: { name: 'a', managedFields: [{ manager: 'm', time, fieldsV1: { 'f:a': {} } }, ...more] },
  data: { a: data },
});
const [then, now] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'];

test('nothing changed but times: these are taken back', () => {
  expect(keepTimes(object(then), object(now))).toEqual(object(then));
});

test('anything else changed', () => {
  for (const next of [object(now, 'y'), object(now, 'x', [{ manager: 'n' }]), object(then), { data: { a: 'x' } }]) {
    expect(keepTimes(object(then), next)).toBe(next);
  }
  const renamed = { ...object(now), metadata: { ...object(now).metadata, labels: { a: 'b' } } };
  expect(keepTimes(object(then), renamed)).toBe(renamed);
  const none = { metadata: { managedFields: [] } };
  expect(keepTimes(none, none)).toBe(none);
});
