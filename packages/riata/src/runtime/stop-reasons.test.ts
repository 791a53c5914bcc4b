import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  isLostLease,
  isRemoved,
  isShutdown,
  isStopReason,
  isTimeout,
  LostLease,
  Removed,
  Shutdown,
  stopReason,
  Timeout,
} from './stop-reasons.js';

const guards = { Shutdown: isShutdown, Timeout: isTimeout, LostLease: isLostLease, Removed: isRemoved };

describe.each([
  ['Shutdown', Shutdown],
  ['Timeout', Timeout],
  ['LostLease', LostLease],
  ['Removed', Removed],
] as const)('%s', (name, Reason) => {
  test('is an error with a name, a message and a cause', () => {
    const cause = new Error('SIGTERM');
    const reason = new Reason('because', { cause });
    expect(reason).toBeInstanceOf(Error);
    expect([String(reason), reason.cause]).toEqual([`${name}: because`, cause]);
    expect(new Reason().message).not.toBe('');
  });

  test('is recognised by its own guard only', () => {
    const reason = new Reason();
    expect(isStopReason(reason)).toBe(true);
    for (const [other, guard] of Object.entries(guards)) expect(guard(reason)).toBe(other === name);
  });
});

test('a reason made by another copy of the package is recognised', () => {
  const foreign = Object.assign(new Error('bye'), { [Symbol.for('riata.stopReason')]: 'Shutdown' });
  expect([isStopReason(foreign), isShutdown(foreign), isTimeout(foreign)]).toEqual([true, true, false]);
});

test('other errors and values are no stop reasons', () => {
  for (const value of [new Error('x'), new DOMException('x', 'TimeoutError'), undefined, null, 'Shutdown', {}]) {
    expect(isStopReason(value)).toBe(false);
  }
});

test('stopReason reads it from a signal', () => {
  const reason = new LostLease();
  expect(stopReason(AbortSignal.abort(reason))).toBe(reason);
  expect(stopReason(AbortSignal.abort())).toBeUndefined();
  expect(stopReason(new AbortController().signal)).toBeUndefined();
  expect(stopReason(undefined)).toBeUndefined();
});

test('the guards narrow', () => {
  const value: unknown = new Timeout();
  if (isTimeout(value)) expectTypeOf(value).toEqualTypeOf<Timeout>();
  expectTypeOf(new Timeout()).not.toExtend<Shutdown>();
});
