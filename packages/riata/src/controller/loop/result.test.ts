import { expect, test } from 'vitest';
import { requeueOf } from './result.js';

test.each([
  [undefined, 'none'],
  [{}, 'none'],
  [{ requeue: false }, 'none'],
  [{ requeue: true }, 'rate-limited'],
  [{ requeueAfter: '10m' }, { afterMs: 600_000 }],
  [{ requeueAfter: 'never' }, { afterMs: Number.POSITIVE_INFINITY }],
])('%j', (result, requeue) => {
  expect(requeueOf(result)).toEqual(requeue);
});

test.each([
  [1_500, 1_500],
  [0, 0],
  // What is late by now is due now.
  [-1, 0],
  [-1e-9, 0],
  [1e-9, 0],
  [1_000 / 3, 1_000 / 3],
])('a time that was reckoned, %s ms, is after %s ms', (reckoned, ms) => {
  const requeue = requeueOf({ requeueAfter: `${reckoned}ms` });
  expect(requeue).toEqual({ afterMs: expect.closeTo(ms, 5) });
});

test('an invalid result is refused, with the remedy', () => {
  expect(() => requeueOf({ requeueAfter: 1_500 })).toThrow('got 1500; in milliseconds that is "1500ms"');
  expect(() => requeueOf({ requeueAfter: `${Number.NaN}ms` })).toThrow('got "NaNms"');
  expect(() => requeueOf({ requeueAfter: `${-1}w` })).toThrow('got "-1w"');
  expect(() => requeueOf({ after: '1m' })).toThrow('this one returned { after }');
  expect(() => requeueOf(7)).toThrow('this one returned number');
});
