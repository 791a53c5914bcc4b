import { consoleLogger, control, defineKind, type KindOf, type Logger, Manager, type RestConfig } from 'riata';
import { z } from 'zod';

/** One of thousands: reconciled whenever its course changes. */
export const Ship = defineKind({
  group: 'sharded-fleet.riata.dev',
  version: 'v1',
  kind: 'Ship',
  spec: z.object({ course: z.int().min(0).max(359) }),
  status: z.object({ course: z.int(), pilot: z.string() }),
});
export interface Ship extends KindOf<typeof Ship> {}

/** Records in a Ship's status which course was set, and by which replica. Replicas share the Ships. */
export const pilots = (identity: string) =>
  control(Ship, { sharded: true, concurrency: 10 }).reconcile(async ({ object: ship, status }) => {
    // A Ship on course needs no write, so replicas that join or leave cause none.
    if (ship.status?.course !== ship.spec.course) await status({ course: ship.spec.course, pilot: identity });
  });

/** One replica: acquires its share of the Ships when it starts, and releases it when it stops. */
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
