import type { JsonObject } from '../json.js';
import type { ManagedFieldsEntry } from '../meta.js';
import { ApplyError } from './apply-error.js';
import type { Conflict } from './conflict-status.js';
import { FieldManager, type FieldManagerRequest } from './field-manager.js';
import { gvkText } from './gvk-text.js';
import { fieldsLastApplied, kubectlManager, updateLastApplied } from './last-applied.js';
import { managedFieldsOf } from './managed-fields-of.js';
import { decodeManagers, encodeManagers, ManagedFieldsError, type Managers } from './managers.js';

export interface ApplyRequest extends FieldManagerRequest {
  /** The applied configuration. */
  readonly config: JsonObject;
  /** Take over fields of other managers. @default false */
  readonly force?: boolean;
}

/** The result of an apply: the object to store, or the conflicts. */
export type ApplyResult =
  | {
      /**
       * The merged object without `metadata.managedFields`: neither defaulted nor validated any further. Where all
       * below a place was taken away and the place itself is still applied, it is null, as upstream has it.
       */
      readonly object: JsonObject;
      /** The new `metadata.managedFields`; undefined for none. */
      readonly managedFields: readonly ManagedFieldsEntry[] | undefined;
      readonly conflicts?: undefined;
    }
  | { readonly conflicts: readonly Conflict[]; readonly object?: undefined; readonly managedFields?: undefined };

/**
 * Server-side apply (`FieldManager.Apply`): merges a configuration into the live object, removes what the manager no
 * longer applies and no other manager owns, and tracks ownership. Conflicts are returned (`conflictStatus` turns them
 * into the answer); throws an `ApplyError` for an invalid configuration.
 */
export function applyServerSide(request: ApplyRequest): ApplyResult {
  const { config, apiVersion, kind, manager, force = false } = request;
  if (config.apiVersion !== apiVersion || config.kind !== kind) {
    throw new ApplyError(400, `invalid object type: ${gvkText(config)}`);
  }
  const run = new FieldManager(request);
  const managers = readManagers(request.live);
  let result = run.apply(config, managers, force);
  if ('conflicts' in result && manager === kubectlManager) {
    const allowed = fieldsLastApplied(run.live, apiVersion);
    if (allowed !== undefined) {
      const conflicts = result.conflicts.filter(({ path }) => !allowed.has(path));
      result = conflicts.length > 0 ? { conflicts } : run.apply(config, managers, true);
    }
  }
  if ('conflicts' in result) return result;
  const object = manager === kubectlManager ? updateLastApplied(result.object, config) : result.object;
  return { object, managedFields: encodeManagers(result.managers) };
}

function readManagers(live: JsonObject | undefined): Managers {
  try {
    return decodeManagers(managedFieldsOf(live));
  } catch (cause) {
    if (!(cause instanceof ManagedFieldsError)) throw cause;
    throw new ApplyError(500, `failed to decode managed fields: ${cause.message}`, { cause });
  }
}
