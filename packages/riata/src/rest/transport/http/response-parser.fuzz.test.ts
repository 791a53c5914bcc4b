import { expect, test } from 'vitest';
import { fuzzResponses } from './response-fuzz.fixture.js';

test("mutated responses are taken as Node's own parser takes them, whole and in pieces, or refused", () => {
  const seed = Number(process.env.RIATA_SEED ?? 1);
  const { differences, accepted } = fuzzResponses(Number(process.env.RIATA_RUNS ?? 5_000), seed);
  expect(differences).toEqual([]);
  expect(accepted).toBeGreaterThan(0);
});
