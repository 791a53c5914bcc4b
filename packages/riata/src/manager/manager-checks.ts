import type { Cache } from '../cache/cache.js';
import { describeError } from '../runtime/describe-error.js';
import type { HealthChecks } from './health-checks.js';
import type { LeaderElector } from './leader-elector.js';
import type { ShardRing } from './shard-ring.js';

/** A watch that breaks now and then is ordinary; one that cannot be had for so long is not. */
const longSilenceMs = 180_000;

/** What every manager is asked: whether its lease and its informers are well. */
export function addManagerChecks(parts: {
  readonly healthz: HealthChecks;
  readonly readyz: HealthChecks;
  readonly elector: Pick<LeaderElector, 'check'> | undefined;
  readonly ring: Pick<ShardRing, 'check'> | undefined;
  readonly cache: Pick<Cache, 'health'>;
}): void {
  const { healthz, readyz, elector, ring, cache } = parts;
  healthz.add('ping', () => {});
  if (elector !== undefined) healthz.add('leader-election', () => elector.check('5s'));
  if (ring !== undefined) healthz.add('shard-ring', () => ring.check('5s'));
  readyz.add('ping', () => {});
  readyz.add('informers', () => {
    const late = cache.health.filter(({ synced }) => !synced).map(({ kind }) => kind.plural);
    if (late.length > 0) throw new Error(`not synced: ${late.join(', ')}`);
    for (const { informers } of cache.health) {
      for (const { name, consecutiveFailures, lastEventMs = 0, lastError } of informers) {
        if (consecutiveFailures < 3 || lastEventMs < longSilenceMs) continue;
        const seconds = Math.round(lastEventMs / 1000);
        throw new Error(`${name}: nothing heard for ${seconds} s: ${describeError(lastError)}`);
      }
    }
  });
}
