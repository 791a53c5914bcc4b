import { notFound } from '../../../status/refusal.js';
import type { Storage } from '../../../storage/storage.js';
import type { AdmissionPlugin } from '../../admission.js';
import { synchronousPlugin } from '../synchronous-plugin.js';

/** Refuses every write in a namespace that is missing (`NamespaceExists`). */
export function namespaceExists({ storage }: { readonly storage: Storage }): AdmissionPlugin {
  return synchronousPlugin({
    name: 'NamespaceExists',
    handles: ({ operation, resource }) => resource.scope === 'Namespaced' && operation !== 'CONNECT',
    check(_, { namespace }) {
      if (storage.get('/namespaces', namespace) !== undefined) return;
      throw notFound({ group: '', plural: 'namespaces', kind: 'Namespace' }, namespace);
    },
  });
}
