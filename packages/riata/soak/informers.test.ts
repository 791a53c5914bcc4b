import { createClient } from 'riata/client';
import { Namespace } from 'riata/kinds';
import { configFromKubeconfig } from 'riata/rest';
import { expect, test } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { informerRounds } from './informer-rounds.js';

const rounds = Number(process.env.INFORMER_ROUNDS ?? 1_000);
const firstSeed = Number(process.env.SEED ?? 1);

test(`informers and caches over a bad network, ${rounds} rounds`, async () => {
  const plane = controlPlaneFromEnv();
  const config = await configFromKubeconfig(plane.kubeconfig);
  await using client = createClient(config);
  const report = await informerRounds({
    ...{ config, rounds, firstSeed, lanes: 16, restartEvery: 8 },
    newNamespace: async () => {
      const made = await client.create(Namespace({ metadata: { generateName: 'soak-' } }));
      return made.metadata.name;
    },
    restart: (options) => plane.restartApiServer(options),
    compact: async () => void (await plane.compact()),
  });
  process.stdout.write(`soak: informers: ${JSON.stringify(report)}\n`);
  expect(report.rounds).toBe(rounds);
  const [first, last] = report.memory;
  expect(last - first).toBeLessThan(8);
});
