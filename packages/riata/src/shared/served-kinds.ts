import type { ServerResources } from '../client/discovery/discovery.js';
import { parseApiVersion } from '../object/gvk.js';
import type { KindRef } from '../object/kind.js';
import type { SharedClientFactory } from './shared-client-factory.js';

/** Kinds by `plural.group`, in the version that the server prefers of each. */
export type ServedKinds = ReadonlyMap<string, KindRef>;

/**
 * The kinds that can be watched. Of a group that could not be asked, `known` stays: that its server does not answer does
 * not mean that its objects are gone.
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
        // The very same as before, if there is one: controllers are found by it.
        const before = known.get(name);
        const isSame = before?.version === version && before.kind === kind && before.scope === scope;
        const gvr = { group, version, resource: plural };
        served.set(name, isSame ? before : clients.resourceKind(gvr, kind, scope === 'Namespaced'));
      }
    }
  }
  return served;
}
