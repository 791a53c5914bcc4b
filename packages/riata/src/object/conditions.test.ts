import { describe, expect, test } from 'vitest';
import {
  findCondition,
  isCondition,
  isConditionFalse,
  isConditionTrue,
  removeCondition,
  setCondition,
} from './conditions.js';
import type { Condition } from './meta.js';

const t0 = '2026-01-01T00:00:00Z';
const ready: Condition = { type: 'Ready', status: 'True', lastTransitionTime: t0, reason: 'Up', message: 'ok' };
const list: readonly Condition[] = Object.freeze([Object.freeze(ready), { ...ready, type: 'Synced' }]);
const now = Date.UTC(2026, 4, 6, 7, 8, 9, 999);

describe('setCondition', () => {
  test('adds at the end, with the time of now', () => {
    const added = setCondition(list, { type: 'New', status: 'Unknown', reason: 'R', message: '' }, now);
    expect(added.slice(0, 2)).toEqual(list);
    expect(added[2]).toEqual({
      type: 'New',
      status: 'Unknown',
      reason: 'R',
      message: '',
      lastTransitionTime: '2026-05-06T07:08:09Z',
    });
    expect(setCondition(undefined, ready, now)).toEqual([ready]);
  });

  test('returns the same array when nothing changes, whatever the time', () => {
    const { lastTransitionTime: _, ...update } = ready;
    expect(setCondition(list, update, now)).toBe(list);
    expect(setCondition(list, { ...ready, lastTransitionTime: 'other' }, now)).toBe(list);
    expect(setCondition(list, { ...ready, observedGeneration: 0 }, now)).toBe(list);
  });

  test('keeps the time when only reason, message or generation change', () => {
    for (const change of [{ reason: 'X' }, { message: 'X' }, { observedGeneration: 4 }]) {
      const changed = setCondition(list, { ...ready, lastTransitionTime: undefined, ...change }, now);
      expect(changed).not.toBe(list);
      expect(changed[0]).toEqual({ ...ready, ...change });
      expect(changed[1]).toBe(list[1]);
    }
  });

  test('moves the time with the status, to the one given or to now', () => {
    const { lastTransitionTime: _, ...update } = ready;
    expect(setCondition(list, { ...update, status: 'False' }, now)[0]?.lastTransitionTime).toBe('2026-05-06T07:08:09Z');
    expect(setCondition(list, { ...update, status: 'False' }, 'T')[0]?.lastTransitionTime).toBe('T');
    const given = setCondition(list, { ...ready, status: 'False', lastTransitionTime: 'G' }, now);
    expect(given[0]?.lastTransitionTime).toBe('G');
  });

  test('a generation that is not given goes away', () => {
    const before: Condition[] = [{ ...ready, observedGeneration: 3 }];
    expect(setCondition(before, ready, now)[0]).toStrictEqual(ready);
  });

  test('fields beyond the standard ones are kept, and set', () => {
    interface Own extends Condition {
      readonly severity?: string;
    }
    const before: readonly Own[] = [{ ...ready, severity: 'low' }];
    expect(setCondition(before, ready, now)).toBe(before);
    expect(setCondition(before, { ...ready, severity: 'high' }, now)[0]?.severity).toBe('high');
  });

  test('the order of fields and of conditions stays', () => {
    const changed = setCondition(list, { ...ready, message: 'new' }, now);
    expect(JSON.stringify(changed[0])).toBe(JSON.stringify({ ...ready, message: 'new' }));
    expect(changed.map((condition) => condition.type)).toEqual(['Ready', 'Synced']);
  });
});

test('remove', () => {
  expect(removeCondition(list, 'Gone')).toBe(list);
  expect(removeCondition(list, 'Ready').map((condition) => condition.type)).toEqual(['Synced']);
  expect(removeCondition(undefined, 'Ready')).toEqual([]);
});

test('find and ask', () => {
  expect(findCondition(list, 'Ready')).toBe(ready);
  expect(findCondition(list, 'constructor')).toBeUndefined();
  expect(findCondition(undefined, 'Ready')).toBeUndefined();
  expect([isConditionTrue(list, 'Ready'), isConditionFalse(list, 'Ready')]).toEqual([true, false]);
  expect([isConditionTrue(list, 'Gone'), isConditionFalse(list, 'Gone')]).toEqual([false, false]);
  expect(isCondition([{ ...ready, status: 'Unknown' }], 'Ready', 'Unknown')).toBe(true);
  expect(isConditionFalse([{ ...ready, status: 'False' }], 'Ready')).toBe(true);
});
