import { consoleLogger, control, defineKind, type KindOf, type Logger, Manager, type RestConfig } from 'riata';
import { z } from 'zod';

/** One of very many: somebody has to look after it whenever its course changes. */
export const Ship = defineKind({
  group: 'sharded-fleet.riata.dev',
  version: 'v1',
  kind: 'Ship',
  spec: z.object({ course: z.int().min(0).max(359) }),
  status: z.object({ course: z.int(), pilot: z.string() }),
});
export interface Ship extends KindOf<typeof Ship> {}

/** Says in the status of a Ship which course was set, and by whom. Replicas share the Ships. */
export const pilots = (identity: string) =>
  control(Ship, { sharded: true, concurrency: 10 }).reconcile(async ({ object: ship, status }) => {
    // Who took over a Ship that is on course leaves it alone: a replica that comes or goes costs no writes.
    if (ship.status?.course !== ship.spec.course) await status({ course: ship.spec.course, pilot: identity });
  });

/** One replica: takes its share of the Ships when it comes, and gives it back when it goes. */
export function replica(
  config: RestConfig,
  namespace: string,
  identity: string,
  log: Logger = consoleLogger({ level: 'warn' }),
): Manager {
  const times = { leaseDuration: '5s', renewDeadline: '3s', retryPeriod: '500ms' } as const;
  const manager = new Manager({
    config,
    cache: { namespaces: [namespace] },
    sharding: { namespace, name: 'fleet', identity, ...times },
    runtime: { log },
  });
  manager.add(pilots(identity));
  return manager;
}
