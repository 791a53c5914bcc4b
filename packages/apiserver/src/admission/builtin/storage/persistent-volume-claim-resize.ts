import { type JsonObject, parseQuantity } from 'riata/object';
import { metaOf, recordOf, textOf } from '../../../resource/metadata.js';
import type { Storage } from '../../../storage/storage.js';
import type { AdmissionPlugin } from '../../admission.js';
import { findObject, forbiddenRequest, synchronousPlugin } from '../synchronous-plugin.js';

const resizable =
  'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

/** Lets a claim grow only if its class allows it (`PersistentVolumeClaimResize`). */
export function persistentVolumeClaimResize({ storage }: { readonly storage: Storage }): AdmissionPlugin {
  return synchronousPlugin({
    name: 'PersistentVolumeClaimResize',
    handles: ({ operation, subresource, resource }) =>
      operation === 'UPDATE' && subresource === '' && resource.table === '/persistentvolumeclaims',
    check(claim, attributes) {
      const before = attributes.oldObject ?? {};
      if (sizeOf(claim).compare(sizeOf(before)) <= 0) return;
      if (recordOf(before.status).phase !== 'Bound') {
        throw forbiddenRequest(attributes, 'Only bound persistent volume claims can be expanded');
      }
      const name = classOf(claim);
      const found = findObject(storage, 'storage.k8s.io/storageclasses', name);
      const isKept = name !== '' && name === classOf(before);
      if (!isKept || found?.allowVolumeExpansion !== true) throw forbiddenRequest(attributes, resizable);
    },
  });
}

function sizeOf({ spec }: JsonObject) {
  return parseQuantity(String(recordOf(recordOf(recordOf(spec).resources).requests).storage ?? 0));
}

function classOf(claim: JsonObject): string {
  const { annotations } = metaOf(claim);
  return (
    textOf(recordOf(annotations)['volume.beta.kubernetes.io/storage-class']) ||
    textOf(recordOf(claim.spec).storageClassName)
  );
}
