import type { Cache } from '../cache/cache.js';
import { isReflectorError } from '../cache/reflector-error.js';
import type { InformerHealth } from '../cache/shared-informer.js';
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
    const { health } = cache;
    const late = health.filter(({ informers }) => informers.some((informer) => !informer.synced && isWanted(informer)));
    if (late.length > 0) throw new Error(`not synced: ${late.map(({ kind }) => kind.plural).join(', ')}`);
    for (const informer of health.flatMap(({ informers }) => informers)) {
      const { name, consecutiveFailures, lastEventMs = 0, lastError } = informer;
      if (consecutiveFailures < 3 || lastEventMs < longSilenceMs || !isWanted(informer)) continue;
      const seconds = Math.round(lastEventMs / 1000);
      throw new Error(`${name}: nothing heard for ${seconds} s: ${describeError(lastError)}`);
    }
  });
}

/** Not one that waits for its first use, nor for a kind that the server does not serve: that may come any day, or never. */
function isWanted({ phase, lastError }: InformerHealth): boolean {
  return phase !== 'idle' && !(isReflectorError(lastError) && lastError.problem === 'not-served');
}
