import type { ApiResource } from '../../client/discovery/discovery.js';
import type { Client } from '../../client/interfaces.js';
import { type KindRef, type MetadataOnly, makeKind, metadataOnly } from '../../object/kind.js';
import { isForbidden, isMethodNotSupported, isNotFound } from '../../rest/errors/error-guards.js';
import type { Logger } from '../../runtime/log/logger.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { inParallel } from './in-parallel.js';
import { setMarks } from './set-identity.js';

/** Where {@link eachSetObject} looks, and how. */
export interface SetObjectsQuery {
  readonly concurrency: number;
  /** Look there alone. */
  readonly namespace?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called for each kind, or group whose discovery failed, that could not be listed. */
  readonly onUnlisted?: ((what: string, error: unknown) => void) | undefined;
  readonly log: Logger;
  readonly clock: Scheduler;
}

/**
 * Calls `visit` with the metadata of every object of any set, of all kinds that the server lets be listed and deleted.
 * Kinds that it does not let us see are left out, which is logged. Resolves to whether the others could all be seen: one
 * whose conversion webhook is down, say, does not hide the rest.
 */
export async function eachSetObject(
  client: Client,
  { concurrency, namespace, signal, onUnlisted, log, clock }: SetObjectsQuery,
  visit: (object: MetadataOnly, kind: KindRef) => void,
): Promise<boolean> {
  const { groups, failures } = await client.mapper.resources();
  if (failures.size > 0) {
    const message = 'apply: cannot prune kinds of these groups, their discovery failed';
    log.warn(message, { groups: [...failures.keys()] });
    for (const [group, error] of failures) onUnlisted?.(`group ${group}`, error);
  }
  const kinds = groups.flatMap(({ versions }) => deletable(versions.flatMap(({ resources }) => resources)));
  const refused: string[] = [];
  let isWhole = failures.size === 0;
  await inParallel(clock, kinds, concurrency, async (kind) => {
    const where = namespace === undefined || kind.scope === 'Cluster' ? {} : { namespace };
    const options = { ...where, labelSelector: setMarks.hash, cutManagedFields: true, signal };
    try {
      for await (const object of client.each(metadataOnly(kind), options)) visit(object, kind);
    } catch (error) {
      signal?.throwIfAborted();
      if (isNotFound(error) || isMethodNotSupported(error)) return;
      const name = `${kind.plural}.${kind.group}`;
      onUnlisted?.(kind.group === '' ? kind.plural : name, error);
      if (isForbidden(error)) refused.push(name);
      else {
        isWhole = false;
        log.warn('apply: cannot list objects of this kind to prune', { kind: name, error });
      }
    }
  });
  if (refused.length > 0) log.debug('apply: not allowed to list these kinds to prune them', { kinds: refused });
  return isWhole;
}

/** Events come by the thousand and belong to no set; asking for Endpoints is answered by a warning that they are deprecated. */
const unlikely: ReadonlySet<string> = new Set(['Endpoints', 'Event']);

/** One version of each kind that can be in a set; the server's favourite comes first. */
function deletable(resources: readonly ApiResource[]): KindRef[] {
  const found = new Map<string, KindRef>();
  for (const resource of resources) {
    const canBe = ['list', 'delete', 'create'].every((verb) => resource.verbs.includes(verb));
    if (!canBe || unlikely.has(resource.kind) || found.has(resource.kind)) continue;
    found.set(resource.kind, makeKind(resource));
  }
  return [...found.values()];
}
