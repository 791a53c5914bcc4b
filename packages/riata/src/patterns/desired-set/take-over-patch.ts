import { FieldSet } from '../../object/apply/fields/field-set.js';
import {
  elementKeys,
  fieldElement,
  fieldName,
  type Path,
  valueElement,
} from '../../object/apply/fields/path-element.js';
import { decodeManagers, encodeManagers, managerId } from '../../object/apply/managers.js';
import { isJsonObject, type Json } from '../../object/json.js';
import type { KubeObject } from '../../object/meta.js';
import type { JsonPatch } from '../../object/patch/json-patch.js';
import { equal } from '../../object/value/equal.js';
import { getOwn } from '../../object/value/own.js';
import { appliedBefore } from './applied-annotation.js';
import { setMarks } from './set-identity.js';

const appliedPath = ['metadata', 'annotations', setMarks.applied].map(fieldElement);

/**
 * The patch that makes the fields of a three-way apply those of a server-side one, so that the next apply removes what
 * is no longer desired (as client-go's `csaupgrade.UpgradeManagedFields`). The annotation names its writer. Only fields
 * in the annotation change hands: the same program may have written other fields by other means. Undefined if there is
 * nothing to take over. The server refuses it if the object has changed since it was read.
 */
export function takeOverPatch(object: KubeObject, fieldManager: string, apiVersion: string): JsonPatch | undefined {
  const managers = new Map(decodeManagers(object.metadata.managedFields));
  const before = appliedBefore(object) ?? {};
  const ours = { manager: fieldManager, applied: true, apiVersion, subresource: '' };
  const id = managerId(ours);
  const known = managers.get(id);
  let taken = FieldSet.empty;
  let { time } = known ?? {};
  for (const [theirs, set] of [...managers]) {
    if (set.applied || set.subresource !== '' || !set.fields.has(appliedPath)) continue;
    const fields = FieldSet.of(...[...set.fields.paths()].filter((path) => isAbout(before as Json, path)), appliedPath);
    taken = taken.union(fields);
    time ??= set.time;
    const rest = set.fields.difference(fields);
    if (rest.isEmpty) managers.delete(theirs);
    else managers.set(theirs, { ...set, fields: rest });
  }
  if (taken.isEmpty) return undefined;
  managers.set(id, { ...ours, time, fields: taken.union(known?.fields ?? FieldSet.empty) });
  return [
    { op: 'replace', path: '/metadata/managedFields', value: encodeManagers(managers) ?? [] },
    { op: 'replace', path: '/metadata/resourceVersion', value: object.metadata.resourceVersion },
  ];
}

/** Whether there is anything at this place. */
function isAbout(value: Json, path: Path): boolean {
  let at: Json | undefined = value;
  for (const element of path) {
    at = step(at, element);
    if (at === undefined) return false;
  }
  return true;
}

function step(value: Json, element: string): Json | undefined {
  const name = fieldName(element);
  if (name !== undefined) return isJsonObject(value) ? (getOwn(value, name) as Json | undefined) : undefined;
  if (!Array.isArray(value)) return undefined;
  const keys = elementKeys(element);
  if (keys === undefined) return (value as readonly Json[]).find((item) => valueElement(item) === element);
  return (value as readonly Json[]).find((item) => {
    // Defaults, such as a port's protocol, are keys that the writer need not have said.
    return (
      isJsonObject(item) &&
      keys.every(([key, desired]) => getOwn(item, key) === undefined || equal(getOwn(item, key), desired))
    );
  });
}
