import { decodeManagers, type JsonObject, type ManagedFieldsEntry, ManagedFieldsError } from 'riata/object';
import { metaOf, withMeta } from '../metadata.js';

/**
 * The object after admission; where a plugin has made its managedFields invalid, with those from before, and a warning
 * (`NewManagedFieldsValidatingAdmissionController`).
 */
export function withValidManagers(object: JsonObject, before: JsonObject, warn: (text: string) => void): JsonObject {
  const { managedFields } = metaOf(object);
  const former = metaOf(before).managedFields;
  if (managedFields === former || managedFields === undefined) return object;
  try {
    decodeManagers(managedFields as readonly ManagedFieldsEntry[]);
    return object;
  } catch (error) {
    if (!(error instanceof ManagedFieldsError)) throw error;
    warn(
      '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating ' +
        `admission controller; please fix your requests: ${error.message}`,
    );
    return withMeta(object, { managedFields: former });
  }
}
