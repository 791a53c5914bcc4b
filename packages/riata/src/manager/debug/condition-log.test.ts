import { expect, test } from 'vitest';
import { ConditionLog } from './condition-log.js';

const at = (seconds: number) => Date.parse('2026-01-01T00:00:00Z') + seconds * 1_000;
const time = (seconds: number) => new Date(at(seconds)).toISOString();
const object = (conditions: unknown, uid = 'u') => ({ metadata: { uid }, status: { conditions } });

test('keeps changes of status and reason, at the time of the transition, and nothing else', () => {
  const log = new ConditionLog();
  const waiting = { type: 'Ready', status: 'False', reason: 'Waiting', lastTransitionTime: time(1) };
  log.note(object([waiting]), at(5));
  log.note(object([{ ...waiting, message: 'another text' }]), at(6));
  log.note(object([{ ...waiting, reason: 'Pulling' }]), at(7));
  log.note(object([{ type: 'Ready', status: 'True', lastTransitionTime: time(8) }]), at(20));
  log.note(object([]), at(30));
  log.note(object([]), at(31));
  expect(log.of('u')).toEqual([
    { at: at(1), type: 'Ready', status: 'False', reason: 'Waiting' },
    { at: at(7), type: 'Ready', status: 'False', reason: 'Pulling' },
    { at: at(8), type: 'Ready', status: 'True' },
    { at: at(30), type: 'Ready' },
  ]);
  expect(log.of('other')).toEqual([]);
});

test('objects without conditions, or with malformed ones, are ignored', () => {
  const log = new ConditionLog();
  const values = [undefined, null, 'text', {}, { metadata: {} }, object('no list'), object([null, 1, { type: 'A' }])];
  for (const value of values) log.note(value, at(1));
  expect(log.of('u')).toEqual([]);
});

test('a version that was read before a write, and comes after it, is ignored', () => {
  const log = new ConditionLog();
  const version = (resourceVersion: string, status: string) => ({
    metadata: { uid: 'u', resourceVersion },
    status: { conditions: [{ type: 'Ready', status }] },
  });
  log.note(version('9', 'False'), at(1));
  log.note(version('10', 'True'), at(2));
  log.note(version('9', 'False'), at(3));
  expect(log.of('u').map(({ status }) => status)).toEqual(['False', 'True']);
});

test('has limits: 500 objects, 20 changes of each', () => {
  const log = new ConditionLog();
  for (let turn = 0; turn < 50; turn += 1) log.note(object([{ type: 'Ready', status: `${turn}` }]), at(turn));
  expect(log.of('u').map(({ status }) => Number(status))).toEqual(Array.from({ length: 20 }, (_, index) => 30 + index));
  for (let index = 0; index < 500; index += 1)
    log.note(object([{ type: 'Ready', status: 'True' }], `${index}`), at(60));
  expect(log.of('u')).toEqual([]);
  expect(log.of('0')).toHaveLength(1);
});
