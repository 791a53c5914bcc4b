import { expect, test } from 'vitest';
import { formatTime } from '../../object/time.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { IgnoreError } from '../../shared/ignore-error.js';
import { computeStatus } from './compute-status.js';
import { Cond } from './cond.js';
import { ConditionError } from './condition-error.js';
import { setStatusActive, setStatusError, setStatusTransitioning } from './kstatus-conditions.js';

const clock = new VirtualClock();
const Deployed = new Cond('Deployed', { clock });
const foo = { apiVersion: 'example.com/v1', kind: 'Foo', metadata: { name: 'a', generation: 3 } };

test('what is not there is neither true nor false, and nothing is changed by asking', () => {
  expect([Deployed.getStatus(foo), Deployed.getReason(foo), Deployed.getMessage(foo)]).toEqual(['', '', '']);
  expect([Deployed.isTrue(foo), Deployed.isFalse(foo), Deployed.isUnknown(foo)]).toEqual([false, false, false]);
  expect(Deployed.getLastUpdated({})).toBe('');
});

test('setting gives a copy, of an object or of a status alone; the very same if nothing changes', () => {
  const failed = Deployed.setFalse(foo, { reason: 'NoImage', message: 'spec.image is empty' });
  expect(foo).not.toHaveProperty('status');
  expect([Deployed.getStatus(failed), Deployed.getReason(failed)]).toEqual(['False', 'NoImage']);
  expect(Deployed.setFalse(failed)).toBe(failed);
  const status = Deployed.setStatusBool({ replicas: 1 }, true);
  expect(status).toMatchObject({ replicas: 1, conditions: [{ type: 'Deployed', status: 'True', reason: 'Deployed' }] });
  expect(Deployed.createUnknownIfNotExists(status)).toBe(status);
  expect(Deployed.isUnknown(Deployed.createUnknownIfNotExists({}))).toBe(true);
  expect(Deployed.getMessage(Deployed.setMessageIfBlank(status, 'so'))).toBe('so');
  expect(Deployed.getMessage(Deployed.setMessageIfBlank(failed, 'so'))).toBe('spec.image is empty');
});

test('errors: the message and the reason that they name; none, and those to be ignored, are a success', () => {
  const failed = Deployed.setError({}, new Error('no'));
  expect(failed).toMatchObject({ conditions: [{ status: 'False', reason: 'Error', message: 'no' }] });
  expect(Deployed.matchesError(failed, new Error('no'))).toBe(true);
  expect(Deployed.matchesError(failed, undefined)).toBe(false);
  const named = Deployed.setError({}, new ConditionError('NoImage', 'spec.image is empty'));
  expect(named).toMatchObject({ conditions: [{ status: 'False', reason: 'NoImage', message: 'spec.image is empty' }] });
  const repaired = Deployed.setError(failed, undefined);
  expect(repaired).toMatchObject({ conditions: [{ status: 'True', reason: 'Deployed', message: '' }] });
  expect(Deployed.matchesError(repaired, undefined)).toBe(true);
  expect(Deployed.isTrue(Deployed.setError({}, new IgnoreError()))).toBe(true);
});

test('wrangler#343: standard conditions are taken as they are, and lastUpdateTime is kept where it is', async () => {
  const time = formatTime(clock.now());
  const standard = { type: 'Ready', status: 'True', reason: 'Ok', message: '', lastTransitionTime: time };
  const object = { ...foo, status: { conditions: [{ ...standard, observedGeneration: 2 }] } };
  const Ready = new Cond('Ready', { clock });
  await clock.advance(60_000);
  const later = formatTime(clock.now());
  const next = Ready.set(object, { message: 'fine' });
  expect(next.status.conditions).toEqual([{ ...standard, message: 'fine', observedGeneration: 3 }]);
  const moved = Ready.setFalse(next);
  expect(moved.status.conditions[0]).toMatchObject({ status: 'False', lastTransitionTime: later });
  const timed = { conditions: [{ ...standard, lastUpdateTime: time }] };
  expect(Ready.getLastUpdated(timed)).toBe(time);
  expect(Ready.set(timed, { message: 'fine' }).conditions[0]).toMatchObject({
    ...{ lastUpdateTime: later, lastTransitionTime: time },
  });
  expect(Ready.set(timed, { message: '' })).toBe(timed);
});

test("kstatus' conditions are what computeStatus goes by", () => {
  const failed = setStatusError(foo, 'no room');
  expect(computeStatus(failed)).toEqual({ status: 'Failed', reason: 'Stalled', message: 'no room' });
  const busy = setStatusTransitioning(failed, 'making room');
  expect(computeStatus(busy)).toEqual({ status: 'InProgress', reason: 'Reconciling', message: 'making room' });
  expect(computeStatus(setStatusActive(busy)).status).toBe('Current');
});
