import { expect, test } from 'vitest';
import { memoryLogger } from '../runtime/log/memory-logger.js';
import { VirtualClock } from '../runtime/time/virtual-clock.js';
import { watchStopping } from './watch-stopping.js';

/** A clock, and whether it keeps the process alive. */
function setUp() {
  const clock = new VirtualClock();
  const log = memoryLogger();
  const holding = new Set<object>();
  const after: VirtualClock['after'] = (ms, fn, options) => {
    const timer = clock.after(
      ms,
      () => {
        holding.delete(timer);
        fn();
      },
      options,
    );
    if (!options?.background) holding.add(timer);
    const cancel = () => {
      holding.delete(timer);
      timer.cancel();
    };
    return { ...timer, cancel };
  };
  return { clock, log, holding, runtime: { log, clock: Object.assign(Object.create(clock), { after }) } };
}

const running = { reconciles: ['carts shop/cart (5 ms)'], runnables: ['controller carts'] };

test('while a manager stops the process stays alive, and after a moment it says what is waited for', async () => {
  const { clock, log, holding, runtime } = setUp();
  const stopping = watchStopping(runtime, () => running, '30s');
  await clock.advance(1_900);
  expect([holding.size, log.messages()]).toEqual([1, []]);
  await clock.advance(100);
  expect(log.records).toMatchObject([
    { level: 'info', fields: { ...running, atMost: '30s' }, message: expect.stringContaining('waiting') },
  ]);
  await clock.advance(24 * 3_600_000);
  expect([holding.size, log.records.length]).toEqual([1, 1]);
  stopping[Symbol.dispose]();
  expect(holding.size).toBe(0);
});
