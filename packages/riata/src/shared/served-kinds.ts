import type { ServerResources } from '../client/discovery/discovery.js';
import { parseApiVersion } from '../object/gvk.js';
import type { KindRef } from '../object/kind.js';
import type { SharedClientFactory } from './shared-client-factory.js';

/** Kinds by `plural.group`, each in the server's preferred version. */
export type ServedKinds = ReadonlyMap<string, KindRef>;

/**
 * The kinds that can be watched. Of a group whose discovery failed, those in `known` are kept: its objects are not gone just
 * because its server does not answer.
 */
export function servedKinds(found: ServerResources, known: ServedKinds, clients: SharedClientFactory): ServedKinds {
  const failed = new Set([...found.failures.keys()].map((groupVersion) => parseApiVersion(groupVersion).group));
  const served = new Map<string, KindRef>();
  for (const [name, kind] of known) if (failed.has(kind.group)) served.set(name, kind);
  for (const { name: group, versions } of found.groups) {
    if (failed.has(group)) continue;
    for (const { version, resources } of versions) {
      for (const { plural, kind, scope, verbs } of resources) {
        const name = `${plural}.${group}`;
        if (served.has(name) || !verbs.includes('list') || !verbs.includes('watch')) continue;
        // The same object as before, if known: controllers are looked up by it.
        const before = known.get(name);
        const isSame = before?.version === version && before.kind === kind && before.scope === scope;
        const gvr = { group, version, resource: plural };
        served.set(name, isSame ? before : clients.resourceKind(gvr, kind, scope === 'Namespaced'));
      }
    }
  }
  return served;
}
