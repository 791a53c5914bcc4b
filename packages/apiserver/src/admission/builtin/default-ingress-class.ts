import { isGiven, metaOf, recordOf } from '../../resource/metadata.js';
import type { Storage } from '../../storage/storage.js';
import type { AdmissionPlugin } from '../admission.js';
import { defaultClass } from './default-class.js';
import { creates, synchronousPlugin } from './synchronous-plugin.js';

/** Gives Ingresses that name no class the default one (`DefaultIngressClass`). */
export function defaultIngressClass({ storage }: { readonly storage: Storage }): AdmissionPlugin {
  return synchronousPlugin({
    name: 'DefaultIngressClass',
    handles: (attributes) => creates(attributes, 'networking.k8s.io/ingresses'),
    change(ingress) {
      const spec = recordOf(ingress.spec);
      const isOld = isGiven(recordOf(metaOf(ingress).annotations)['kubernetes.io/ingress.class']);
      if (isOld || isGiven(spec.ingressClassName)) return ingress;
      const annotations = ['ingressclass.kubernetes.io/is-default-class'];
      const ingressClassName = defaultClass(storage, 'networking.k8s.io/ingressclasses', annotations);
      return ingressClassName === undefined ? ingress : { ...ingress, spec: { ...spec, ingressClassName } };
    },
  });
}
