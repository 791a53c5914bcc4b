import { equal, isJsonObject, type JsonObject } from 'riata/object';
import type { PrepareContext } from '../../kinds/kind-rules.js';
import type { CrdObject, CrdSpec } from '../../schema/crd/crd-object.js';
import { nonStructural } from '../../schema/crd/non-structural.js';
import { checkAcceptedNames, validateCrd, validateCrdUpdate } from '../../schema/crd/validate-crd.js';
import type { FieldError } from '../../status/field-error.js';
import type { Steps } from '../../steps.js';
import { stringsOf, textOf } from '../metadata.js';

/** The finalizer that keeps a definition until its objects are deleted. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io';

/** Fills in defaults of names and conversion. */
export function defaultDefinition(definition: JsonObject): JsonObject {
  const spec = isJsonObject(definition.spec) ? definition.spec : {};
  return { ...definition, spec: { ...spec, names: withNames(spec), conversion: conversionOf(spec) } };
}

/**
 * The versions that objects may be stored in, which always include the storage version. Only a write of the status can
 * remove versions that no object is stored in any more.
 */
export function prepareDefinition(
  definition: JsonObject,
  _before?: JsonObject,
  { subresource }: Pick<PrepareContext, 'subresource'> = { subresource: '' },
): JsonObject {
  const spec = isJsonObject(definition.spec) ? definition.spec : {};
  const kept = isJsonObject(definition.status) ? definition.status : noStatus;
  const known = new Set(stringsOf(kept.storedVersions));
  const versions = (Array.isArray(spec.versions) ? spec.versions : []).filter(isJsonObject);
  const storage = textOf(versions.find((v) => v.storage === true)?.name);
  const isPruned = subresource === 'status' && known.size > 0;
  const storedVersions = storage === '' || known.has(storage) || isPruned ? [...known] : [...known, storage];
  return { ...definition, status: { ...kept, storedVersions: storedVersions.length === 0 ? null : storedVersions } };
}

const noStatus: JsonObject = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null };

/** The status of a definition whose names are accepted; undefined if it is unchanged. */
export function acceptedStatus(definition: JsonObject, now: string): JsonObject | undefined {
  const status = isJsonObject(definition.status) ? definition.status : {};
  const spec = isJsonObject(definition.spec) ? definition.spec : {};
  const conditions = withStructural(conditionsOf(status, now), spec, now);
  const accepted = { ...status, conditions, acceptedNames: spec.names ?? {} };
  return equal(status, accepted) ? undefined : accepted;
}

/** Validates a definition, without its metadata. */
export function* checkDefinition(
  definition: JsonObject,
  before: JsonObject | undefined,
  subresource = '',
): Steps<readonly FieldError[]> {
  const crd = definition as unknown as CrdObject;
  if (subresource === 'status') return checkAcceptedNames(crd);
  const errors = yield* before === undefined
    ? validateCrd(crd)
    : validateCrdUpdate(crd, before as unknown as CrdObject);
  const isGeneral = (e: FieldError) => e.field.startsWith('metadata.') && !e.body.includes('spec.names.plural');
  return errors.filter((e) => !isGeneral(e));
}

/** The status of a definition while its objects are deleted. */
export function whenDefinitionGoes(definition: JsonObject, now: string): JsonObject {
  const status = isJsonObject(definition.status) ? definition.status : {};
  const conditions = (Array.isArray(status.conditions) ? status.conditions : []).filter(isJsonObject);
  if (conditions.some((c) => c.type === 'Terminating')) return definition;
  const going = {
    type: 'Terminating',
    status: 'True',
    lastTransitionTime: now,
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  };
  return { ...definition, status: { ...status, conditions: [...conditions, going] } };
}

function withNames(spec: JsonObject): JsonObject {
  const names = isJsonObject(spec.names) ? spec.names : {};
  const kind = textOf(names.kind);
  if (kind === '') return names;
  return {
    ...names,
    listKind: textOf(names.listKind) || `${kind}List`,
    singular: textOf(names.singular) || kind.toLowerCase(),
  };
}

function conversionOf(spec: JsonObject): JsonObject {
  return isJsonObject(spec.conversion) ? spec.conversion : { strategy: 'None' };
}

function conditionsOf(status: JsonObject, now: string): JsonObject[] {
  const before = (Array.isArray(status.conditions) ? status.conditions : []).filter(isJsonObject);
  const expected = [
    { type: 'NamesAccepted', reason: 'NoConflicts', message: 'no conflicts found' },
    { type: 'Established', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' },
  ];
  const others = before.filter((c) => !expected.some((w) => w.type === c.type));
  return [
    ...expected.map(({ type, reason, message }) => {
      const known = before.find((c) => c.type === type && c.status === 'True');
      return known ?? { type, status: 'True', lastTransitionTime: now, reason, message };
    }),
    ...others,
  ];
}

/** Sets the condition of definitions with non-structural schemas. */
function withStructural(conditions: readonly JsonObject[], spec: JsonObject, now: string): JsonObject[] {
  const type = 'NonStructuralSchema';
  const found = nonStructural(spec as CrdSpec);
  const before = conditions.find((c) => c.type === type);
  const others = conditions.filter((c) => c !== before);
  if (found === undefined) return others;
  const lastTransitionTime = before?.status === found.status ? (before.lastTransitionTime ?? now) : now;
  const { status, reason, message } = found;
  return [...others, { type, status, lastTransitionTime, reason, message }];
}

/** Whether a definition is established. */
export function isEstablished(definition: JsonObject): boolean {
  const status = isJsonObject(definition.status) ? definition.status : {};
  const conditions = (Array.isArray(status.conditions) ? status.conditions : []).filter(isJsonObject);
  return conditions.some((c) => c.type === 'Established' && c.status === 'True');
}
