import { expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { LeadershipTerm } from './leadership-term.js';

test.each([122_556.943_149_758_75, 30_624.435_091_850_977, 128_249.825_631_626_72])(
  'rounding errors of the clock keep nobody awake: from %d on',
  async (sentAt) => {
    const clock = new VirtualClock({ limit: 1000 });
    await clock.advance(sentAt);
    // The times that differ by less than they should.
    expect(sentAt + 10_000 - sentAt).toBeLessThan(10_000);
    const lost: string[] = [];
    const onLost = ({ message }: Error) => void lost.push(message);
    const term = new LeadershipTerm({ clock, what: 'Lease a/b', sentAt, renewDeadlineMs: 10_000, onLost });
    await clock.advance(10_000);
    await clock.advance(1);
    expect(lost).toEqual(['Lease a/b is lost: the last renewal was 10001 ms ago, the renew deadline is 10000 ms']);
    expect(term.isHeld).toBe(false);
  },
);
