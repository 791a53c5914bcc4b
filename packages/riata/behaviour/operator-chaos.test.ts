import { expect, test } from 'vitest';
import { operatorChaos } from '../soak/operator-chaos.js';
import { describeServers } from './servers.js';

describeServers('operators under chaos', () => {
  test('1,000 Widgets, three replicas killed, paused and cut off: all ready, nothing twice, no old leader wins', async () => {
    const report = await operatorChaos({ seed: 1, widgets: 1_000 });
    expect(report.writes).toBeGreaterThanOrEqual(2_000);
    expect(report.terms).toBeGreaterThanOrEqual(3);
  }, 600_000);

  test('the same with replicas that share the work: no old owner of a key wins', async () => {
    const report = await operatorChaos({ seed: 2, widgets: 1_000, mode: 'sharded' });
    expect(report.terms).toBeGreaterThan(64);
  }, 600_000);
}, ['kube-apiserver']);
