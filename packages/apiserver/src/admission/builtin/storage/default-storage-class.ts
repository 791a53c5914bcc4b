import { isGiven, metaOf, recordOf } from '../../../resource/metadata.js';
import type { Storage } from '../../../storage/storage.js';
import type { AdmissionPlugin } from '../../admission.js';
import { defaultClass } from '../default-class.js';
import { creates, synchronousPlugin } from '../synchronous-plugin.js';

const annotations = ['storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'];

/** Gives claims that name no class the default one (`DefaultStorageClass`). */
export function defaultStorageClass({ storage }: { readonly storage: Storage }): AdmissionPlugin {
  return synchronousPlugin({
    name: 'DefaultStorageClass',
    handles: (attributes) => creates(attributes, '/persistentvolumeclaims'),
    change(claim) {
      const spec = recordOf(claim.spec);
      const isOld = isGiven(recordOf(metaOf(claim).annotations)['volume.beta.kubernetes.io/storage-class']);
      if (isOld || isGiven(spec.storageClassName)) return claim;
      const storageClassName = defaultClass(storage, 'storage.k8s.io/storageclasses', annotations);
      return storageClassName === undefined ? claim : { ...claim, spec: { ...spec, storageClassName } };
    },
  });
}
