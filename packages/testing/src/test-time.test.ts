import { VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { VirtualTime } from './test-time.js';

test('what is waited for may be brought about by others who move the same clock', async () => {
  const clock = new VirtualClock();
  const time = new VirtualTime(clock);
  for (const steps of [1, 2, 5]) {
    const work = async () => {
      for (let step = 0; step < steps; step += 1) await clock.sleep(1_000);
      return 'done';
    };
    const driven = time.drive(work(), 'work');
    const advanced = [time.advance(1_500), time.advance(5_000)];
    expect(await driven).toBe('done');
    await Promise.all(advanced);
  }
});

test('a step counts if other code has moved time meanwhile', async () => {
  const clock = new VirtualClock();
  const time = new VirtualTime(clock);
  void clock.sleep(1_000);
  const steps = [time.step(10_000), time.step(10_000)];
  expect(await Promise.all(steps)).toEqual([true, true]);
  expect(await time.step(10_000)).toBe(false);
});

test('work that no time completes is reported', async () => {
  const time = new VirtualTime();
  await expect(time.drive(new Promise(() => {}), 'the end of days')).rejects.toThrow(
    'the end of days: still pending, and nothing happens within an hour of virtual time',
  );
});
