import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import process from 'node:process';
import { expect, test, vi } from 'vitest';
import { control } from '../controller/define/control.js';
import { ConfigMap } from '../kinds/index.js';
import { memoryLogger } from '../runtime/log/memory-logger.js';
import { isShutdown } from '../runtime/stop-reasons.js';
import { VirtualClock } from '../runtime/time/virtual-clock.js';
import { Manager } from './manager.js';
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

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('a second signal ends the process at once: %s', (name, code) => {
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  using signals = signalHandler();
  process.emit('SIGTERM', 'SIGTERM');
  expect(exit).not.toHaveBeenCalled();
  process.emit(name, name);
  expect(exit.mock.calls).toEqual([[code]]);
  expect(signals.signal.aborted).toBe(true);
  exit.mockRestore();
});

test('disposed, it keeps nothing alive', () => {
  const before = timers();
  signalHandler()[Symbol.dispose]();
  expect(timers()).toBe(before);
});

test('run names its invalid arguments', async () => {
  const wrong = (value: unknown) => run(value as never);
  await expect(wrong(control(ConfigMap))).rejects.toThrow('has no reconciler yet: end it with .reconcile(');
  await expect(wrong(async () => {})).rejects.toThrow('got function');
  await expect(wrong(undefined)).rejects.toThrow('got undefined');
  await expect(wrong([control(ConfigMap).reconcile(() => {})])).rejects.toThrow('spread it, run(...controllers)');
});

test('a manager names invalid runnables', async () => {
  await using manager = await Manager.create({ config: { server: 'http://127.0.0.1:9' } });
  const add = (value: unknown) => () => manager.add(value as never);
  expect(add(control(ConfigMap))).toThrow('manager.add: the controller has no reconciler yet');
  expect(add(undefined)).toThrow('manager.add: expects a controller made by control(Foo).reconcile(…), got undefined');
  expect(add({ name: 'loop', start() {} })).toThrow('manager.add: "loop" has no method run');
});

test('run requires a controller, and options once', async () => {
  await expect(run({})).rejects.toThrow('give at least one controller');
  await expect(run()).rejects.toThrow('give at least one controller');
});

test('a process that keeps running after a failed run is ended, unless it runs again', async () => {
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const codeBefore = process.exitCode;
  const clock = new VirtualClock();
  const log = memoryLogger();
  // The port is taken: its run fails at once.
  const host = '127.0.0.1';
  await using taken = createServer().listen(0, host);
  await once(taken, 'listening');
  const health = { host, port: (taken.address() as AddressInfo).port };
  const options = { config: { server: 'http://127.0.0.1:9' }, health, runtime: { clock, log }, loopMonitor: false };
  const controller = control(ConfigMap).reconcile(() => {});
  try {
    expect(await run(controller, options)).toMatchObject({ reason: 'failed', runnable: 'health probes' });
    expect(process.exitCode).toBe(1);
    await clock.advance(9_999);
    expect(await run(controller, options)).toMatchObject({ reason: 'failed' });
    await clock.advance(9_999);
    expect(exit).not.toHaveBeenCalled();
    await clock.advance(1);
    expect(exit).toHaveBeenCalledTimes(1);
    expect(log.messages('error').at(-1)).toBe('the manager has stopped but the process has not, exiting now');
  } finally {
    process.exitCode = codeBefore;
    exit.mockRestore();
  }
});
