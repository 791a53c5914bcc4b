import { expect, test } from 'vitest';
import { chaos } from './chaos.fixture.js';

test.each([1, 2, 3])('whatever happens, it comes right in the end (seed %d)', async (seed) => {
  await expect(chaos(seed, 15)).resolves.toBe(undefined);
});

test('what was made and deleted in a gap of the watch is made anew', async () => {
  await expect(chaos(1104, 30)).resolves.toBe(undefined);
});
