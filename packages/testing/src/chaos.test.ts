import { expect, test } from 'vitest';
import { chaos } from './chaos.fixture.js';

test.each([1, 2, 3])('whatever happens, it comes right in the end (seed %d)', async (seed) => {
  await expect(chaos(seed, 15)).resolves.toBe(undefined);
});
