import { seededRandom, systemRandom } from 'riata/runtime';
import { expect, test } from 'vitest';
import { fuzzResponses } from '../src/rest/transport/http/response-fuzz.fixture.js';

/** Between two looks at the clock of the test runner. */
const runsPerTurn = 10_000;

test("millions of mutated responses are taken as Node's own parser takes them, or refused", async () => {
  const runs = Number(process.env.RIATA_RUNS ?? 3_000_000);
  const seed = Number(process.env.RIATA_SEED ?? systemRandom.int(0, 0xffff_ffff));
  const seeds = seededRandom(seed);
  let accepted = 0;
  for (let run = 0; run < runs; run += runsPerTurn) {
    const found = fuzzResponses(Math.min(runsPerTurn, runs - run), seeds.int(0, 0xffff_ffff));
    expect(found.differences, `RIATA_SEED=${seed}`).toEqual([]);
    accepted += found.accepted;
    await new Promise(setImmediate);
  }
  expect(accepted).toBeGreaterThan(runs / 10);
});
