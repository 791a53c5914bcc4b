import { VirtualClock } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { Deadline } from './deadline.js';

function deadline(timeoutMs = 1_000) {
  const clock = new VirtualClock();
  const gone = new AbortController();
  const made = new Deadline({ clock, timeoutMs, gone: gone.signal, overdue: () => new Error('overdue') });
  return { clock, gone, made };
}

const never = new Promise<never>(() => {});

describe('a deadline', () => {
  test('leaves work alone that is done in time', async () => {
    const { clock, made } = deadline();
    expect(await made.limit(Promise.resolve('done'))).toBe('done');
    await expect(made.limit(Promise.reject(new Error('own')))).rejects.toThrow('own');
    await clock.settle();
    expect(clock.pending).toBe(0);
    expect(made.signal.aborted).toBe(false);
  });

  test('ends the wait when time is over, and aborts its signal', async () => {
    const { clock, made } = deadline();
    const { signal } = made;
    const waiting = expect(made.limit(never)).rejects.toThrow('overdue');
    await clock.advance(999);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    await waiting;
    expect(signal.reason).toEqual(new Error('overdue'));
  });

  test('ends the wait when the client has gone, and aborts a signal that is read late', async () => {
    const { gone, made } = deadline();
    const waiting = expect(made.limit(never)).rejects.toBe('gone');
    gone.abort('gone');
    await waiting;
    expect(made.signal.reason).toBe('gone');
  });
});
