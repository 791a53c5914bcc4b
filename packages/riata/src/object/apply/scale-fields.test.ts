import { expect, test } from 'vitest';
import type { ManagedFieldsEntry } from '../meta.js';
import { fromScaleFields, toScaleFields } from './scale-fields.js';

const replicas = ['f:spec', 'f:replicas'];
const mapping = {
  apiVersion: 'x.dev/v1',
  replicasPaths: new Map([
    ['x.dev/v1', replicas],
    ['x.dev/v2', undefined],
  ]),
};
const entry = (manager: string, apiVersion: string, fieldsV1: object, over: object = {}): ManagedFieldsEntry => ({
  manager,
  operation: 'Apply',
  apiVersion,
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: fieldsV1 as never,
  ...over,
});
const owner = entry('ann', 'x.dev/v1', { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } });
const only = entry('bob', 'x.dev/v1', { 'f:spec': { 'f:replicas': {} } });
const unscaled = entry('cid', 'x.dev/v2', { 'f:spec': { 'f:replicas': {} } });
const gone = entry('dan', 'x.dev/v0', { 'f:spec': { 'f:replicas': {} } });
const inScale = (manager: string, over: object = {}) =>
  entry(manager, 'autoscaling/v1', { 'f:spec': { 'f:replicas': {} } }, over);

test('who manages the replicas manages those of the Scale', () => {
  expect(toScaleFields([owner, only, unscaled, gone], mapping)).toEqual([inScale('ann'), inScale('bob')]);
  expect(toScaleFields(undefined, mapping)).toBeUndefined();
});

test('nothing changed in the Scale: nothing changes but that unknown versions go', () => {
  const all = [owner, only, unscaled, gone];
  expect(fromScaleFields(all, toScaleFields(all, mapping), mapping)).toEqual([owner, only, unscaled]);
});

test('who takes the replicas in the Scale has them, and the others do not', () => {
  const taken = inScale('hpa', { operation: 'Update', subresource: 'scale' });
  expect(fromScaleFields([owner, only, unscaled], [taken], mapping)).toEqual([
    { ...owner, fieldsV1: { 'f:spec': { 'f:paused': {} } } },
    unscaled,
    entry(
      'hpa',
      'x.dev/v1',
      { 'f:spec': { 'f:replicas': {} } },
      {
        operation: 'Update',
        subresource: 'scale',
        time: undefined,
      },
    ),
  ]);
});
