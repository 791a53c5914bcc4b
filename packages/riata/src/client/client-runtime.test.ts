import { expect, test } from 'vitest';
import { seededRandom } from '../runtime/random.js';
import { VirtualClock } from '../runtime/time/virtual-clock.js';
import { clientRuntime } from './client-runtime.js';
import { createClient } from './create-client.js';
import { delegatingClient } from './delegating-client.js';

test('a client, its wrappers and one that reads from a cache have the same clock and randomness', async () => {
  const runtime = { clock: new VirtualClock(), random: seededRandom(1) };
  await using client = createClient({ server: 'https://127.0.0.1:1' }, { runtime });
  for (const each of [client, client.wrap((run) => run), delegatingClient({ cacheReader: client, client })]) {
    expect(clientRuntime(each)).toEqual(runtime);
    expect(clientRuntime(each).clock).toBe(runtime.clock);
  }
});

test('a client of another make has none', () => {
  expect(clientRuntime({})).toEqual({});
});
