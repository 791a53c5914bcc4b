import type { Cache } from '../../cache/cache.js';
import { describeFailing } from '../../cache/store/failing-objects.js';
import type { ControllerHealth } from '../../controller/loop/controller-health.js';
import type { ClusterSet } from '../clusters/cluster.js';
import type { LeaderElector } from '../election/leader-elector.js';
import type { ShardRing } from '../sharding/shard-ring.js';
import { checkInformers } from './check-informers.js';
import type { HealthChecks } from './health-checks.js';

/**
 * Adds the checks that every manager has: its lease and its informers. Some checks are only shown, and don't fail the
 * probe. `informers/<cluster>`: a remote cluster that is down, or was just added, is no reason to take an operator out of
 * service that works on all the others. `controllers/<name>` and `objects/<informer>`, for objects that a function fails
 * for: one object must not stop the work on all others.
 */
export function addManagerChecks(parts: {
  readonly healthz: HealthChecks;
  readonly readyz: HealthChecks;
  readonly elector: Pick<LeaderElector, 'check'> | undefined;
  readonly ring: Pick<ShardRing, 'check'> | undefined;
  readonly cache: Pick<Cache, 'health'>;
  readonly clusters: ClusterSet;
  /** `active` names the reconciles in flight: one that does not end may be the reason of a failed check. */
  readonly controllers: {
    readonly health: readonly Pick<ControllerHealth, 'name' | 'failing'>[];
    readonly active: readonly string[];
  };
}): void {
  const { healthz, readyz, elector, ring, cache, clusters, controllers } = parts;
  const active = () => controllers.active;
  healthz.add('ping', () => {});
  if (elector !== undefined) healthz.add('leader-election', () => naming(active, () => elector.check('5s')));
  if (ring !== undefined) healthz.add('shard-ring', () => naming(active, () => ring.check('5s')));
  readyz.add('ping', () => {});
  readyz.add('informers', () => checkInformers(cache));
  readyz.addAsides(() => [
    ...clusters.names.map((name) => [`informers/${name}`, () => clusters.get(name)?.check()] as const),
    ...controllers.health.map(({ name, failing }) => [`controllers/${name}`, () => refuseFailing(failing)] as const),
    ...objectChecks('', cache),
    ...clusters.names.flatMap((name) => objectChecks(`${name}/`, clusters.get(name)?.cache ?? { health: [] })),
  ]);
}

function objectChecks(place: string, { health }: Pick<Cache, 'health'>) {
  const informers = health.flatMap((kind) => kind.informers);
  return informers.map(({ name, failing, failingObjects }) => {
    const check = () => {
      const problem = describeFailing(failing, failingObjects);
      if (problem !== undefined) throw new Error(problem);
    };
    return [`objects/${place}${name}`, check] as const;
  });
}

function refuseFailing(failing: ControllerHealth['failing']): void {
  const [first] = failing;
  if (first !== undefined) throw new Error(`${first.source}: ${describeFailing(failing)}`);
}

function naming(active: () => readonly string[], check: () => void): void {
  try {
    check();
  } catch (error) {
    const running = active();
    if (running.length === 0) throw error;
    throw new Error(`${(error as Error).message}; reconciles in flight: ${running.join(', ')}`, { cause: error });
  }
}
