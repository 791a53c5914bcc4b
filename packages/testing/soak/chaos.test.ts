import { expect, test } from 'vitest';
import { chaos } from '../src/chaos.fixture.js';

const rounds = Number(process.env.CHAOS_ROUNDS ?? 300);
const first = Number(process.env.SEED ?? 1);

test(`whatever happens, it comes right in the end: ${rounds} seeds`, async () => {
  const failures: string[] = [];
  for (let seed = first; seed < first + rounds; seed += 1) {
    await chaos(seed, 30).catch((error: Error) => {
      failures.push(`seed ${seed} (again: SEED=${seed} CHAOS_ROUNDS=1): ${error.message}`);
    });
  }
  expect(failures).toEqual([]);
});
