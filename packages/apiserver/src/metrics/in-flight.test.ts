import { expect, test } from 'vitest';
import { InFlight } from './in-flight.js';

test('the peak of the last second is shown, of reads and writes apart', () => {
  let now = 10_000;
  const inFlight = new InFlight({ monotonic: () => now });
  const reads = [inFlight.enter(now, 'GET'), inFlight.enter(now, 'HEAD')];
  const write = inFlight.enter(now, 'PATCH');
  for (const one of reads) one[Symbol.dispose]();
  expect([inFlight.peak('readOnly'), inFlight.peak('mutating')]).toEqual([2, 1]);
  now += 1_500;
  expect([inFlight.peak('readOnly'), inFlight.peak('mutating')]).toEqual([2, 1]);
  now += 1_500;
  expect([inFlight.peak('readOnly'), inFlight.peak('mutating')]).toEqual([0, 1]);
  write[Symbol.dispose]();
  now += 5_000;
  expect(inFlight.peak('mutating')).toBe(0);
});
