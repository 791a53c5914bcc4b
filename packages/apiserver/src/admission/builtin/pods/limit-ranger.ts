import { metaOf } from '../../../resource/metadata.js';
import type { Storage } from '../../../storage/storage.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission.js';
import { forbiddenRequest, objectsOf, synchronousPlugin } from '../synchronous-plugin.js';
import { claimLimitProblem, limitProblem, limitsOf, withLimits } from './pod-limits.js';

/** Gives containers the defaults of their namespace, and keeps Pods and claims within its limits (`LimitRanger`). */
export function limitRanger({ storage }: { readonly storage: Storage }): AdmissionPlugin {
  const rangesOf = (namespace: string) => limitsOf(objectsOf(storage, '/limitranges', namespace));
  return synchronousPlugin({
    name: 'LimitRanger',
    handles: (attributes) =>
      isLimited(attributes) &&
      storage.count('/limitranges') > 0 &&
      metaOf(attributes.oldObject ?? {}).deletionTimestamp === undefined,
    change: (object, { namespace, resource }) =>
      resource.table === '/pods' ? withLimits(object, rangesOf(namespace)) : object,
    check(object, attributes) {
      const problemOf = attributes.resource.table === '/pods' ? limitProblem : claimLimitProblem;
      const problem = problemOf(object, rangesOf(attributes.namespace));
      if (problem !== undefined) throw forbiddenRequest(attributes, problem);
    },
  });
}

/** New Pods, Pods that are resized, and claims. */
function isLimited({ operation, subresource, resource: { table } }: AdmissionAttributes): boolean {
  if (table === '/pods') return subresource === '' ? operation === 'CREATE' : isResize(operation, subresource);
  if (table !== '/persistentvolumeclaims' || subresource !== '') return false;
  return operation === 'CREATE' || operation === 'UPDATE';
}

function isResize(operation: string, subresource: string): boolean {
  return operation === 'UPDATE' && subresource === 'resize';
}
