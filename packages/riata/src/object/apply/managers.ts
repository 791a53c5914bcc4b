import { compareStrings } from '../compare-strings.js';
import { goJsonString, goQuote } from '../go-text.js';
import type { ManagedFieldsEntry } from '../meta.js';
import { parseTime } from '../time.js';
import type { FieldSet } from './fields/field-set.js';
import { formatFieldsV1, parseFieldsV1 } from './fields/fields-v1.js';
import { FieldsV1Error } from './fields/path-element.js';

/** The fields of one manager (`fieldpath.VersionedSet`), from an entry of `metadata.managedFields`. */
export interface ManagedSet {
  readonly manager: string;
  /** Whether by server-side apply. */
  readonly applied: boolean;
  readonly apiVersion: string;
  readonly subresource: string;
  /** When it last changed something. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** Who manages what, by identifier (`fieldpath.ManagedFields`). */
export type Managers = ReadonlyMap<string, ManagedSet>;

export type Operation = 'Apply' | 'Update';

/** Entries of `metadata.managedFields` that cannot be read. */
export class ManagedFieldsError extends Error {
  override readonly name = 'ManagedFieldsError';
}

/**
 * Identifies entries (`BuildManagerIdentifier`) by manager, operation and subresource, those of updates also by API
 * version. The text is the JSON of the entry that upstream uses: conflicts are sorted by it.
 */
export function managerId(of: Pick<ManagedSet, 'manager' | 'applied' | 'apiVersion' | 'subresource'>): string {
  const parts: string[] = [];
  const add = (key: string, value: string) => {
    if (value !== '') parts.push(`"${key}":${goJsonString(value)}`);
  };
  add('manager', of.manager);
  add('operation', of.applied ? 'Apply' : 'Update');
  add('apiVersion', of.applied ? '' : of.apiVersion);
  add('subresource', of.subresource);
  return `{${parts.join(',')}}`;
}

/** Reads `metadata.managedFields` (`DecodeManagedFields`). Throws a `ManagedFieldsError` in upstream's words. */
export function decodeManagers(entries: readonly ManagedFieldsEntry[] | undefined): Managers {
  const managers = new Map<string, ManagedSet>();
  for (const [index, entry] of (entries ?? []).entries()) {
    const { operation, apiVersion = '', fieldsType = '' } = entry;
    if (operation !== 'Apply' && operation !== 'Update') {
      throw new ManagedFieldsError('operation must be `Apply` or `Update`');
    }
    if (apiVersion === '') throw new ManagedFieldsError('apiVersion must not be empty');
    if (fieldsType === '') throw new ManagedFieldsError(`missing fieldsType in managed fields entry ${index}`);
    if (fieldsType !== 'FieldsV1') {
      throw new ManagedFieldsError(`invalid fieldsType ${goQuote(fieldsType)} in managed fields entry ${index}`);
    }
    const set: ManagedSet = {
      manager: entry.manager ?? '',
      applied: operation === 'Apply',
      apiVersion,
      subresource: entry.subresource ?? '',
      time: entry.time,
      fields: decodeFields(entry, index),
    };
    managers.set(managerId(set), set);
  }
  return managers;
}

function decodeFields(entry: ManagedFieldsEntry, index: number): FieldSet {
  try {
    return parseFieldsV1(entry.fieldsV1);
  } catch (cause) {
    if (!(cause instanceof FieldsV1Error)) throw cause;
    throw new ManagedFieldsError(`error decoding set of managed fields entry ${index}: ${cause.message}`, { cause });
  }
}

/**
 * Writes `metadata.managedFields`, sorted as upstream does: appliers before updaters, the oldest first, then by
 * manager, API version and subresource. Undefined without managers.
 */
export function encodeManagers(managers: Managers): readonly ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined;
  return [...managers.values()].sort(compareManaged).map(encodeManager);
}

function encodeManager({ manager, applied, apiVersion, time, fields, subresource }: ManagedSet): ManagedFieldsEntry {
  return {
    ...(manager === '' ? {} : { manager }),
    operation: applied ? 'Apply' : 'Update',
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: formatFieldsV1(fields),
    ...(subresource === '' ? {} : { subresource }),
  };
}

function compareManaged(a: ManagedSet, b: ManagedSet): number {
  if (a.applied !== b.applied) return a.applied ? -1 : 1;
  return (
    secondsOf(a.time) - secondsOf(b.time) ||
    compareStrings(a.manager, b.manager) ||
    compareStrings(a.apiVersion, b.apiVersion) ||
    compareStrings(a.subresource, b.subresource)
  );
}

/** Whole seconds since the epoch; no time at all counts as the epoch. */
export function secondsOf(time: string | undefined): number {
  if (time === undefined) return 0;
  try {
    return Math.floor(parseTime(time) / 1000);
  } catch {
    return 0;
  }
}
