import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { crashRounds } from './crash-rounds.js';
import { ServerProgram } from './server-program.js';

const rounds = Number(process.env.CRASH_ROUNDS ?? 200);
const seed = Number(process.env.SEED ?? 1);

test(`servers that are killed ${rounds} times lose nothing that they have shown (again: SEED=${seed})`, async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'riata-crash-'));
  try {
    await using program = await ServerProgram.build();
    const tally = await crashRounds(program, { seed, rounds, dataDir });
    process.stdout.write(`${rounds} crashes: ${JSON.stringify(tally)}\n`);
    expect(tally.resumed + tally.expired).toBeGreaterThan(rounds);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
