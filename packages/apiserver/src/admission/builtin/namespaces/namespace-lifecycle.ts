import type { JsonObject } from 'riata/object';
import { metaOf, textOf } from '../../../resource/metadata.js';
import { forbiddenWrite, namespaceTerminating, notFound, type Refusal } from '../../../status/refusal.js';
import type { Storage } from '../../../storage/storage.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission.js';
import { findObject, synchronousPlugin } from '../synchronous-plugin.js';

const immortal: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);

/**
 * Creates nothing in a namespace that is missing or being deleted, and keeps the namespaces of the system
 * (`NamespaceLifecycle`).
 */
export function namespaceLifecycle({ storage }: { readonly storage: Storage }): AdmissionPlugin {
  return synchronousPlugin({
    name: 'NamespaceLifecycle',
    handles({ operation, resource }) {
      if (resource.table === '/namespaces') return operation === 'DELETE';
      if (resource.scope !== 'Namespaced') return false;
      const isReview = resource.group === 'authorization.k8s.io' && resource.plural === 'localsubjectaccessreviews';
      return (operation === 'CREATE' || operation === 'UPDATE') && !isReview;
    },
    change(object, { operation, resource, namespace, name, oldObject }) {
      if (operation === 'DELETE') {
        const deleted = name || textOf(metaOf(oldObject ?? {}).name);
        if (!immortal.has(deleted)) return object;
        throw forbiddenWrite(resource, deleted, 'this namespace may not be deleted');
      }
      const refusal = refusalIn(storage, { operation, resource, namespace, name, object });
      if (refusal !== undefined) throw refusal;
      return object;
    },
  });
}

type Creation = Pick<AdmissionAttributes, 'operation' | 'resource' | 'namespace' | 'name'> & {
  readonly object: JsonObject;
};

/** Why nothing can be written into a namespace now. */
function refusalIn(storage: Storage, request: Creation): Refusal | undefined {
  const { operation, resource, namespace, name, object } = request;
  const found = findObject(storage, '/namespaces', namespace);
  if (found === undefined) return notFound({ group: '', plural: 'namespaces', kind: 'Namespace' }, namespace);
  if (operation !== 'CREATE' || metaOf(found).deletionTimestamp === undefined) return undefined;
  const { name: given, generateName } = metaOf(object);
  return namespaceTerminating(resource, namespace, name || textOf(given) || textOf(generateName) || 'Unknown');
}
