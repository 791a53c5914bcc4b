import { protectionFinalizers } from '../../../kinds/storage/protection-finalizers.js';
import { metaOf, stringsOf, withMeta } from '../../../resource/metadata.js';
import type { AdmissionPlugin } from '../../admission.js';
import { synchronousPlugin } from '../synchronous-plugin.js';

/** Keeps storage from being removed while it is in use (`StorageObjectInUseProtection`). */
export function storageObjectInUseProtection(): AdmissionPlugin {
  return synchronousPlugin({
    name: 'StorageObjectInUseProtection',
    handles: ({ operation, subresource, resource: { table } }) =>
      operation === 'CREATE' && subresource === '' && Object.hasOwn(protectionFinalizers, table),
    change(object, { resource: { table } }) {
      const finalizers = stringsOf(metaOf(object).finalizers);
      const own = protectionFinalizers[table as keyof typeof protectionFinalizers];
      return finalizers.includes(own) ? object : withMeta(object, { finalizers: [...finalizers, own] });
    },
  });
}
