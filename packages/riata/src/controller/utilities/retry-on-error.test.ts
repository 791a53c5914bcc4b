import { describe, expect, test } from 'vitest';
import { ApiError } from '../../rest/errors/api-error.js';
import { seededRandom } from '../../runtime/random.js';
import { Shutdown } from '../../runtime/stop-reasons.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { defaultBackoff, type RetryOptions, retryOnConflict, retryOnError } from './retry-on-error.js';

const conflict = () => new ApiError({ code: 409, reason: 'Conflict', message: 'too late' } as never);

function setUp(options: RetryOptions = {}) {
  const clock = new VirtualClock();
  const at: number[] = [];
  const attempts: number[] = [];
  const retry = (fails: () => unknown) =>
    retryOnConflict(
      (attempt) => {
        at.push(clock.monotonic());
        attempts.push(attempt);
        const failure = fails();
        if (failure !== undefined) throw failure;
        return 'done';
      },
      { ...options, runtime: { clock, random: seededRandom(1) } },
    );
  return { clock, at, attempts, retry };
}

describe('retryOnConflict', () => {
  test('tries five times, 10 to 11 ms apart, and rejects with the last conflict', async () => {
    const { clock, at, attempts, retry } = setUp();
    const errors: Error[] = [];
    const outcome = retry(() => {
      errors.push(conflict());
      return errors.at(-1);
    });
    outcome.catch(() => {});
    await clock.runAll();
    await expect(outcome).rejects.toBe(errors[4]);
    expect(attempts).toEqual([1, 2, 3, 4, 5]);
    const waits = at.slice(1).map((ms, n) => ms - (at[n] ?? 0));
    expect(waits.every((ms) => ms >= 10 && ms <= 11)).toBe(true);
  });

  test('ends with the first success, and with the first other error', async () => {
    const first = setUp();
    let left = 2;
    const success = first.retry(() => (left-- > 0 ? conflict() : undefined));
    await first.clock.runAll();
    expect([await success, first.attempts.length]).toEqual(['done', 3]);
    const second = setUp();
    const other = new Error('broken');
    await expect(second.retry(() => other)).rejects.toBe(other);
    expect(second.attempts).toEqual([1]);
  });

  test('with the other backoff: four times, each wait five times as long', async () => {
    const { clock, at, retry } = setUp({ backoff: defaultBackoff });
    const outcome = retry(conflict);
    outcome.catch(() => {});
    await clock.runAll();
    await expect(outcome).rejects.toThrow('too late');
    const waits = at.slice(1).map((ms, n) => ms - (at[n] ?? 0));
    expect(waits.map((ms, n) => ms / 5 ** n).every((ms) => ms >= 10 && ms <= 11)).toBe(true);
    expect(waits).toHaveLength(3);
  });

  test('ends when the signal aborts', async () => {
    const stop = new AbortController();
    const { clock, attempts, retry } = setUp({ signal: stop.signal });
    const outcome = retry(conflict);
    outcome.catch(() => {});
    await clock.settle();
    const reason = new Shutdown();
    stop.abort(reason);
    await expect(outcome).rejects.toBe(reason);
    expect(attempts).toEqual([1]);
    expect(clock.pending).toBe(0);
  });
});

test('retryOnError refuses to try never', async () => {
  const backoff = { ...defaultBackoff, steps: 0 };
  await expect(
    retryOnError(
      () => true,
      () => 1,
      { backoff },
    ),
  ).rejects.toThrow('must be an integer ≥ 1, got 0');
});
