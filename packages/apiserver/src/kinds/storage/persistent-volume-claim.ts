import { equal, type Json, type JsonObject, parseQuantity } from 'riata/object';
import { isGiven, metaOf, recordOf, textOf } from '../../resource/metadata.js';
import { dnsLabel, dnsSubdomain, qualifiedName } from '../../schema/name-rules.js';
import { checkImmutable } from '../../schema/object-meta.js';
import { type FieldError, forbidden, invalid, notSupported, required } from '../../status/field-error.js';
import { checkEnum, checkText } from '../checks/basic-checks.js';
import { goDiff } from '../checks/go-diff.js';
import { checkLabelSelector } from '../checks/label-selector.js';
import { prefixed } from '../defaults-table.js';
import type { KindRules, PrepareContext } from '../kind-rules.js';
import { checkAmount } from '../pods/checks/resource-checks.js';
import { claimSpecDefaults, rounded } from '../pods/pod-defaults.js';
import { checkAccessModes } from './check-access-modes.js';
import { claimInGo } from './go-forms.js';

const classAnnotation = 'volume.beta.kubernetes.io/storage-class';
const snapshots = 'snapshot.storage.k8s.io';
const resizeStates = [
  ...['ControllerResizeInProgress', 'ControllerResizeInfeasible'],
  ...['NodeResizeInProgress', 'NodeResizeInfeasible', 'NodeResizePending'],
];

export const persistentVolumeClaimRules: KindRules = {
  defaults: {
    ...prefixed('spec', claimSpecDefaults),
    'status.phase': 'Pending',
    'status.capacity': rounded,
    'status.allocatedResources': rounded,
  },
  prepare,
  validate: (object) => checkClaimSpec(recordOf(object.spec), 'spec'),
  validateUpdate: checkChange,
  validateStatus: (object) => checkStatus(recordOf(object.status)),
  warnings(object) {
    const isOld = isGiven(recordOf(metaOf(object).annotations)[classAnnotation]);
    const { requests, limits } = recordOf(recordOf(object.spec).resources);
    const fractional = ([list, amount]: readonly [string, Json | undefined]) =>
      isGiven(amount) && parseQuantity(String(amount)).milliValue() % 1000n !== 0n
        ? [`spec.resources.${list}[storage]: fractional byte value "${amount}" is invalid, must be an integer`]
        : [];
    return [
      ...(isOld
        ? [`metadata.annotations[${classAnnotation}]: deprecated since v1.8; use "storageClassName" attribute instead`]
        : []),
      ...fractional(['requests', recordOf(requests).storage]),
      ...fractional(['limits', recordOf(limits).storage]),
    ];
  },
};

/** What is wrong with the spec of a claim, or of a template of claims. */
export function checkClaimSpec(spec: JsonObject, path: string): FieldError[] {
  const storage = recordOf(recordOf(spec.resources).requests).storage;
  const named = (field: string) =>
    textOf(spec[field]) === '' ? [] : checkText(dnsSubdomain, textOf(spec[field]), `${path}.${field}`);
  return [
    ...checkAccessModes(spec.accessModes, `${path}.accessModes`, 'at least 1 access mode is required'),
    ...checkLabelSelector(spec.selector, `${path}.selector`),
    ...checkSize(storage, `${path}.resources[storage]`),
    ...named('storageClassName'),
    ...checkEnum(spec.volumeMode, ['Block', 'Filesystem'], `${path}.volumeMode`),
    ...checkSources(spec, path),
    ...named('volumeAttributesClassName'),
  ];
}

function checkSize(storage: Json | undefined, path: string): FieldError[] {
  if (!isGiven(storage)) return [required(path)];
  if (parseQuantity(String(storage)).sign() <= 0) {
    return [invalid(path, String(storage), 'must be greater than zero')];
  }
  return checkAmount('storage', storage, path);
}

function checkSources({ dataSource, dataSourceRef }: JsonObject, path: string): FieldError[] {
  const errors = [
    ...(isGiven(dataSource) ? checkSource(recordOf(dataSource), `${path}.dataSource`) : []),
    ...(isGiven(dataSourceRef) ? checkSource(recordOf(dataSourceRef), `${path}.dataSourceRef`) : []),
  ];
  if (!isGiven(dataSource) || !isGiven(dataSourceRef)) return errors;
  const elsewhere = textOf(recordOf(dataSourceRef).namespace) !== '';
  if (!elsewhere && sameSource(recordOf(dataSource), recordOf(dataSourceRef))) return errors;
  const why = elsewhere ? 'may not be specified when dataSourceRef.namespace is specified' : 'must match dataSourceRef';
  return [...errors, invalid(path, {}, why)];
}

function sameSource(a: JsonObject, b: JsonObject): boolean {
  return ['apiGroup', 'kind', 'name'].every((field) => (a[field] ?? null) === (b[field] ?? null));
}

function checkSource({ apiGroup, kind, name, namespace }: JsonObject, path: string): FieldError[] {
  const group = textOf(apiGroup);
  const detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
  return [
    ...(textOf(name) === '' ? [required(`${path}.name`)] : []),
    ...(textOf(kind) === '' ? [required(`${path}.kind`)] : []),
    ...(group === '' && kind !== 'PersistentVolumeClaim' ? [invalid(path, textOf(kind), detail)] : []),
    ...(group === '' ? [] : checkText(dnsSubdomain, group, `${path}.apiGroup`)),
    ...(textOf(namespace) === '' ? [] : checkText(dnsLabel, textOf(namespace), `${path}.namespace`)),
  ];
}

function prepare(object: JsonObject, before: JsonObject | undefined, { subresource }: PrepareContext): JsonObject {
  if (subresource === 'status') return object;
  const spec = withSources(recordOf(object.spec), recordOf(before?.spec));
  const status = before === undefined ? { phase: 'Pending' } : object.status;
  return { ...object, spec, ...(status === undefined ? {} : { status }) };
}

/** The older field for where data comes from follows the newer one, and the other way round. */
function withSources(spec: JsonObject, before: JsonObject): JsonObject {
  let { dataSource, dataSourceRef, ...rest } = spec;
  // Data from another namespace is a feature that is off.
  if (textOf(recordOf(dataSourceRef).namespace) !== '' && !isGiven(before.dataSourceRef)) dataSourceRef = undefined;
  const isNew = !isGiven(before.dataSource) && !isGiven(before.dataSourceRef);
  if (isNew && !isGiven(dataSourceRef) && !isOldSource(recordOf(dataSource))) dataSource = undefined;
  if (isGiven(dataSource) && !isGiven(dataSourceRef)) dataSourceRef = dataSource;
  else if (isGiven(dataSourceRef) && !isGiven(dataSource)) dataSource = dataSourceRef;
  return {
    ...rest,
    ...(isGiven(dataSource) ? { dataSource } : {}),
    ...(isGiven(dataSourceRef) ? { dataSourceRef } : {}),
  };
}

function isOldSource({ apiGroup, kind }: JsonObject): boolean {
  const group = textOf(apiGroup);
  return (kind === 'PersistentVolumeClaim' && group === '') || (kind === 'VolumeSnapshot' && group === snapshots);
}

/** A claim stays as it is, but for what a bound one may become: larger. */
function checkChange(object: JsonObject, before: JsonObject): FieldError[] {
  const [spec, old] = [recordOf(object.spec), recordOf(before.spec)];
  const size = (of: JsonObject) => recordOf(recordOf(of.resources).requests).storage;
  const isBound = recordOf(object.status).phase === 'Bound';
  const errors: FieldError[] = [];
  const annotation = (of: JsonObject) => textOf(recordOf(metaOf(of).annotations)[classAnnotation]);
  const movesClass = !isGiven(old.storageClassName) && isGiven(spec.storageClassName);
  const fits = annotation(before) === '' || annotation(before) === spec.storageClassName;
  if (!(movesClass && annotation(before) !== '' && fits) && annotation(object) !== annotation(before)) {
    const path = `metadata.annotations.${classAnnotation}`;
    errors.push(invalid(path, annotation(object), 'field is immutable'));
  }
  const free = [
    ...(textOf(old.volumeName) === '' ? ['volumeName'] : []),
    ...(movesClass && fits ? ['storageClassName'] : []),
    ...(isBound ? ['volumeAttributesClassName'] : []),
  ];
  const changed = [...new Set([...Object.keys(spec), ...Object.keys(old)])].filter((field) => {
    if (free.includes(field)) return false;
    const [now, then] =
      field === 'resources' && isBound ? [withoutSize(spec), withoutSize(old)] : [spec[field], old[field]];
    return !equal(now ?? null, then ?? null);
  });
  if (changed.length > 0) {
    const words =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    const kept = Object.fromEntries(free.map((field) => [field, old[field]]));
    const resources = isBound
      ? { ...recordOf(spec.resources), requests: recordOf(old.resources).requests }
      : spec.resources;
    const now = { ...spec, resources, ...kept } as JsonObject;
    errors.push(forbidden('spec', `${words}\n${goDiff(claimInGo(old), claimInGo(now))}`));
  }
  return [...errors, ...checkShrunk(size(spec), size(old), before), ...checkMode(spec, old)];
}

function withoutSize(spec: JsonObject): JsonObject {
  const { requests, ...rest } = recordOf(spec.resources);
  const { storage: _, ...others } = recordOf(requests);
  return { ...rest, requests: others };
}

function checkMode(spec: JsonObject, old: JsonObject): FieldError[] {
  return checkImmutable(spec.volumeMode ?? null, old.volumeMode ?? null, 'volumeMode');
}

function checkShrunk(now: Json | undefined, then: Json | undefined, before: JsonObject): FieldError[] {
  if (!isGiven(now) || !isGiven(then) || parseQuantity(String(now)).compare(String(then)) >= 0) return [];
  const capacity = recordOf(recordOf(before.status).capacity).storage ?? '0';
  if (parseQuantity(String(now)).compare(String(capacity)) > 0) return [];
  return [forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')];
}

function checkStatus(status: JsonObject): FieldError[] {
  const amounts = Object.entries(recordOf(status.capacity));
  const states = Object.entries(recordOf(status.allocatedResourceStatuses));
  const allocated = Object.entries(recordOf(status.allocatedResources));
  const at = { states: 'status.allocatedResourceStatuses', allocated: 'status.allocatedResources' };
  return [
    ...amounts.flatMap(([name, amount]) => checkBasic(amount, `status.capacity[${name}]`)),
    ...states.flatMap(([name, state]) => [
      ...checkKey(name, at.states),
      ...(resizeStates.includes(textOf(state)) ? [] : [notSupported(at.states, name, resizeStates)]),
    ]),
    ...allocated.flatMap(([name, amount]) => {
      const errors = checkKey(name, at.allocated);
      return errors.length > 0 ? errors : checkBasic(amount, `${at.allocated}[${name}]`);
    }),
  ];
}

function checkBasic(amount: Json | undefined, path: string): FieldError[] {
  const quantity = parseQuantity(String(amount));
  return quantity.sign() < 0 ? [invalid(path, Number(quantity.value()), 'must be a valid resource quantity')] : [];
}

function checkKey(name: string, path: string): FieldError[] {
  const errors = checkText(qualifiedName, name, path);
  const isNative = !name.includes('/') || name.includes('kubernetes.io/');
  if (errors.length > 0 || !isNative || name === 'storage') return errors;
  return [notSupported(path, name, ['storage'])];
}
