import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { crashRounds } from '../../../soak/crash-rounds.js';
import { ServerProgram } from '../../../soak/server-program.js';

test('servers that are killed lose nothing that they have shown', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'riata-crash-'));
  try {
    await using program = await ServerProgram.build();
    const tally = await crashRounds(program, { seed: 1, rounds: 5, dataDir });
    expect(tally.acknowledged).toBeGreaterThan(0);
    expect(tally.events).toBeGreaterThan(0);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
