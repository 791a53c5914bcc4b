import { isJsonObject, type JsonObject } from '../json.js';
import type { ManagedFieldsEntry } from '../meta.js';
import { ApplyError } from './apply-error.js';
import { FieldManager, type FieldManagerRequest } from './field-manager.js';
import { managedFieldsOf, withoutManagedFields } from './managed-fields-of.js';
import { decodeManagers, encodeManagers, ManagedFieldsError, type Managers } from './managers.js';

export interface TrackUpdateRequest extends FieldManagerRequest {
  /** The object about to be stored: patched, defaulted, with the `metadata.managedFields` that the request sent. */
  readonly object: JsonObject;
}

/**
 * The managers after a create, update or patch (`FieldManager.UpdateNoErrors`): undefined for none, also when the
 * objects are not of their type. Entries sent with the object replace the live ones unless they cannot be read or the
 * write goes to a subresource; an empty list, or a list of one empty entry, resets them.
 */
export function trackUpdate(request: TrackUpdateRequest): readonly ManagedFieldsEntry[] | undefined {
  const managers = managersForUpdate(request);
  // It was never applied to, and its history is unknown: that stays so until the first apply.
  if (managers.size === 0 && uidOf(request.live) !== '') return undefined;
  try {
    const run = new FieldManager(request);
    return encodeManagers(run.update(run.live, withoutManagedFields(request.object), managers, request.manager));
  } catch (error) {
    if (error instanceof ApplyError) return undefined;
    throw error;
  }
}

function managersForUpdate({ live, object, subresource = '' }: TrackUpdateRequest): Managers {
  const sent = managedFieldsOf(object);
  if (subresource === '') {
    if (sent !== undefined && isReset(sent)) return new Map();
    const managers = decodeOrEmpty(sent);
    // Clients that know nothing of managedFields must not lose them.
    if (managers.size > 0) return managers;
  }
  return decodeOrEmpty(managedFieldsOf(live));
}

function decodeOrEmpty(entries: readonly ManagedFieldsEntry[] | undefined): Managers {
  try {
    return decodeManagers(entries);
  } catch (error) {
    if (error instanceof ManagedFieldsError) return new Map();
    throw error;
  }
}

function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  if (entries.length > 1) return false;
  return Object.values(entries[0] ?? {}).every((value) => value === '' || value === undefined || value === null);
}

function uidOf(object: JsonObject | undefined): string {
  const uid = isJsonObject(object?.metadata) ? object.metadata.uid : undefined;
  return typeof uid === 'string' ? uid : '';
}
