import { expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { cpuProfileRoute } from './cpu-profile-route.js';

test('a profile is ended when its client has gone, and the next one can be taken', async () => {
  const clock = new VirtualClock();
  const route = cpuProfileRoute(clock);
  const caller = new AbortController();
  const query = new URLSearchParams('seconds=60');
  const first = Promise.resolve(route({ rest: '', query, signal: caller.signal }));
  const other = { rest: '', query, signal: new AbortController().signal };
  expect(await route(other)).toMatchObject({ status: 409 });
  caller.abort(new Error('hung up'));
  await expect(first).rejects.toThrow('hung up');
  const late = new AbortController();
  late.abort(new Error('hung up before it began'));
  await expect(route({ ...other, signal: late.signal })).rejects.toThrow('before it began');
});
