import type { Added, Manager } from '../../manager/manager.js';
import type { PolicyObject } from './policy-objects.js';

/** The field manager of applied policies. */
const fieldManager = 'riata-policies';

/**
 * Applies the objects of a policy once, when the manager leads: one writer is enough, and a replica of an older version
 * does not take back what a newer one applied. Policies come before their bindings.
 */
export function installPolicy(manager: Manager, name: string, objects: readonly PolicyObject[]): Added {
  const { connection } = manager;
  return manager.add({
    name: `policy ${name}`,
    stage: 'leader',
    run: async ({ signal }) => {
      for (const object of objects) await connection.apply(object as never, { fieldManager, force: true, signal });
    },
  });
}
