import { expect, test, vi } from 'vitest';
import { memoryLogger } from './log/memory-logger.js';
import { noMetrics } from './metrics.js';
import { seededRandom, systemRandom } from './random.js';
import { defaultRuntime, resolveRuntime } from './runtime.js';
import { systemClock } from './time/system-clock.js';
import { VirtualClock } from './time/virtual-clock.js';
import { noSpan, noTracer } from './tracing.js';

test('defaultRuntime is the machine itself, without metrics or traces', () => {
  const runtime = defaultRuntime();
  expect([runtime.clock, runtime.random, runtime.metrics, runtime.tracer]).toEqual([
    systemClock,
    systemRandom,
    noMetrics,
    noTracer,
  ]);
  expect([runtime.log.enabled('debug'), runtime.log.enabled('info')]).toEqual([false, true]);
});

test('resolveRuntime keeps what is given and fills in what is missing or undefined', () => {
  const given = { clock: new VirtualClock(), random: seededRandom(1), log: memoryLogger() };
  expect(resolveRuntime({ ...given, metrics: undefined })).toEqual({ ...given, metrics: noMetrics, tracer: noTracer });
});

test('the default logger shows the time of the given clock', () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  resolveRuntime({ clock: new VirtualClock({ start: 0 }) }).log.info('hello');
  const calls = write.mock.calls.map(([text]) => text);
  write.mockRestore();
  expect(calls).toEqual(['1970-01-01T00:00:00.000Z INFO  hello\n']);
});

test('noTracer makes no object per span', () => {
  const span = noTracer.span('list', { kind: 'Pod' });
  span.set({ items: 5 });
  span.error(new Error('x'));
  span.end();
  expect(noTracer.span('watch', {}, span)).toBe(noSpan);
});
