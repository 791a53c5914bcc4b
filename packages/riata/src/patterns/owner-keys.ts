import { parseApiVersion } from '../object/gvk.js';
import type { ObjectKey } from '../object/key.js';
import type { KindRef } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';

/** The owners of a kind, in whichever version, that an object refers to. */
export function ownerKeys(owner: KindRef, namespace: string, object: KubeObject | undefined): readonly ObjectKey[] {
  const refs = object?.metadata.ownerReferences ?? [];
  return refs
    .filter(({ apiVersion, kind }) => kind === owner.kind && parseApiVersion(apiVersion).group === owner.group)
    .map(({ name }) => (owner.scope === 'Namespaced' ? { namespace, name } : { name }));
}
