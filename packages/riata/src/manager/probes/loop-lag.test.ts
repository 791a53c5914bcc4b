import { expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { ProcessClock } from '../election/election.fixture.js';
import { LoopLag } from './loop-lag.js';

test('a healthy loop has no lag', async () => {
  const clock = new VirtualClock();
  using lag = new LoopLag(clock, 500);
  for (let i = 0; i < 10; i += 1) {
    await clock.advance(333);
    expect(lag.take()).toBe(0);
  }
});

test('reports the longest block since the last call, once', async () => {
  const base = new VirtualClock();
  const clock = new ProcessClock(base);
  using lag = new LoopLag(clock, 500);
  for (const ms of [1_500, 4_500, 700]) {
    clock.stop();
    await base.advance(ms);
    clock.resume();
    await base.settle();
  }
  expect(lag.take()).toBe(4_000);
  expect(lag.take()).toBe(0);
});

test('a block that continues until now counts, before the pulse says so, and not again after it', async () => {
  const base = new VirtualClock();
  const clock = new ProcessClock(base);
  using lag = new LoopLag(clock, 500);
  clock.stop();
  await base.advance(3_500);
  expect(lag.take()).toBe(3_000);
  clock.resume();
  await base.settle();
  expect(lag.take()).toBe(0);
});

test('nothing is left of it', async () => {
  const clock = new VirtualClock();
  const lag = new LoopLag(clock, 500);
  await clock.advance(2_000);
  lag[Symbol.dispose]();
  expect(clock.pending).toBe(0);
});

test.each([
  ['computed', 3_000, false],
  ['computed, with little of the CPU', 1_000, false],
  ['was stopped', 2, true],
])('a process that %s is told by the CPU time that it has used', async (_, usedMs, isIdle) => {
  const base = new VirtualClock();
  const clock = new ProcessClock(base);
  let cpuMs = 0;
  clock.cpuMs = () => cpuMs;
  using lag = new LoopLag(clock, 500);
  clock.stop();
  await base.advance(3_500);
  cpuMs += usedMs;
  clock.resume();
  await base.settle();
  expect([lag.take(), lag.tookCpuMs, lag.tookIdle]).toEqual([3_000, usedMs, isIdle]);
  expect([lag.take(), lag.tookCpuMs, lag.tookIdle]).toEqual([0, undefined, false]);
});
