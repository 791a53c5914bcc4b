import { equal, type JsonObject, parseQuantity, Quantity } from 'riata/object';
import { isGiven, metaOf, recordOf, textOf } from '../../../resource/metadata.js';
import type { Amounts } from './amounts.js';
import type { QuotaEvaluator } from './quota-evaluator.js';
import { isNameInScope } from './quota-scope.js';

const one = Quantity.of(1);
const plain = ['persistentvolumeclaims', 'requests.storage'];
const classInfix = '.storageclass.storage.k8s.io/';
const classAnnotation = 'volume.beta.kubernetes.io/storage-class';

/** The usage of PersistentVolumeClaims, in total and by storage class. */
export const claimQuota: QuotaEvaluator = {
  covers: (name) =>
    name === 'count/persistentvolumeclaims' ||
    plain.some((own) => name === own || name.endsWith(`${classInfix}${own}`)),
  handles({ operation, subresource, object, oldObject }) {
    if (subresource === '') return operation === 'CREATE' || operation === 'UPDATE';
    return subresource === 'status' && oldObject !== undefined && changesUsage(object, oldObject);
  },
  isInScope: (claim, scope) =>
    scope.scopeName === 'VolumeAttributesClass' && isNameInScope(attributesClasses(claim), scope),
  usage,
};

function usage(claim: JsonObject): Amounts {
  const amounts = new Map([
    ['count/persistentvolumeclaims', one],
    ['persistentvolumeclaims', one],
  ]);
  const annotation = recordOf(metaOf(claim).annotations)[classAnnotation];
  const className = isGiven(annotation) ? textOf(annotation) : textOf(recordOf(claim.spec).storageClassName);
  if (className !== '') amounts.set(`${className}${classInfix}persistentvolumeclaims`, one);
  const storage = storageOf(claim);
  if (storage === undefined) return amounts;
  amounts.set('requests.storage', storage);
  if (className !== '') amounts.set(`${className}${classInfix}requests.storage`, storage);
  return amounts;
}

/** The larger of requested and allocated storage, in bytes. */
function storageOf(claim: JsonObject): Quantity | undefined {
  const requested = recordOf(recordOf(recordOf(claim.spec).resources).requests).storage;
  if (!isGiven(requested)) return undefined;
  const asked = parseQuantity(String(requested)).roundUp(0);
  const allocated = allocatedOf(claim);
  return allocated !== undefined && allocated.compare(asked) > 0 ? allocated.roundUp(0) : asked;
}

function allocatedOf(claim: JsonObject): Quantity | undefined {
  const { storage } = recordOf(recordOf(claim.status).allocatedResources);
  return isGiven(storage) ? parseQuantity(String(storage)) : undefined;
}

function changesUsage(claim: JsonObject, before: JsonObject): boolean {
  const allocated = (one: JsonObject) => allocatedOf(one)?.canonical() ?? '';
  return allocated(claim) !== allocated(before) || !equal(attributesClasses(claim), attributesClasses(before));
}

function attributesClasses(claim: JsonObject): string[] {
  const { currentVolumeAttributesClassName, modifyVolumeStatus } = recordOf(claim.status);
  const names = [
    recordOf(claim.spec).volumeAttributesClassName,
    currentVolumeAttributesClassName,
    recordOf(modifyVolumeStatus).targetVolumeAttributesClassName,
  ];
  return [...new Set(names.map(textOf).filter((name) => name !== ''))].sort();
}
