import { expect, test } from 'vitest';
import { informerRounds } from '../soak/informer-rounds.js';
import { describeServers } from './servers.js';

const firstSeed = Number(process.env.SEED ?? 1);

describeServers(
  'informers and caches over a bad network',
  (server) => {
    test('every informer converges to the state of the server, and nothing is left behind', async () => {
      const { config } = server();
      const isReal = process.env.RIATA_SERVERS === 'kube-apiserver';
      const rounds = Number(process.env.INFORMER_ROUNDS ?? (isReal ? 30 : 5));
      const report = await informerRounds({
        ...{ config, rounds, firstSeed, restartEvery: 1 },
        newNamespace: () => server().namespace(),
        restart: (options) => server().faults.restart(options),
        compact: () => server().faults.compact(),
      });
      if (process.env.INFORMER_ROUNDS) process.stdout.write(`${JSON.stringify(report)}\n`);
      expect(report.rounds).toBe(rounds);
      expect(report.counts.answered).toBeGreaterThanOrEqual(rounds);
      const faults = Object.values(report.faults).reduce((sum, count) => sum + count, 0);
      expect(faults).toBeGreaterThanOrEqual(rounds);
      const [first, last] = report.memory;
      expect(last - first).toBeLessThan(20);
    }, 900_000);
  },
  ['https', 'kube-apiserver'],
);
