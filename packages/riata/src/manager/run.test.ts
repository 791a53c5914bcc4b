import process from 'node:process';
import { expect, test } from 'vitest';
import { isShutdown } from '../runtime/stop-reasons.js';
import { run, signalHandler } from './run.js';

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
const listeners = () => process.listenerCount('SIGTERM') + process.listenerCount('SIGINT');

test('a signal aborts; until then the process stays alive', () => {
  const before = { timers: timers(), listeners: listeners() };
  {
    using signals = signalHandler();
    expect(timers()).toBe(before.timers + 1);
    expect(signals.signal.aborted).toBe(false);
    process.emit('SIGTERM', 'SIGTERM');
    expect(signals.signal.reason).toSatisfy(isShutdown);
    expect(timers()).toBe(before.timers);
    expect(listeners()).toBe(before.listeners + 2);
  }
  expect(listeners()).toBe(before.listeners);
});

test('disposed, it keeps nothing alive', () => {
  const before = timers();
  signalHandler()[Symbol.dispose]();
  expect(timers()).toBe(before);
});

test('run wants a controller, and options once', async () => {
  await expect(run({})).rejects.toThrow('give at least one controller');
  await expect(run()).rejects.toThrow('give at least one controller');
});
