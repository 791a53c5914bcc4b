import { expect, test } from 'vitest';
import { chaos } from './chaos.fixture.js';

test.each([1, 2, 3])('whatever happens, it comes right in the end (seed %d)', async (seed) => {
  await expect(chaos(seed, 15)).resolves.toBe(undefined);
});

test('objects that were created and deleted in a gap of the watch are created again', async () => {
  await expect(chaos(1104, 30)).resolves.toBe(undefined);
});
