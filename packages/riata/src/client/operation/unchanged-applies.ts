import { extractFields } from '../../object/apply/extract-fields.js';
import { isJsonObject } from '../../object/json.js';
import type { KubeObject } from '../../object/meta.js';
import { equal } from '../../object/value/equal.js';
import { lossOf } from '../../object/value/lossy.js';
import { patchTypes } from '../../rest/rest-client.js';
import { ApplyIds } from './apply-ids.js';
import { ApplyMemo } from './apply-memo.js';
import { isDryRun, type Operation } from './operation.js';

/**
 * Decides which apply patches are no-ops: those that would not change their `current` object. Asked below all wrappers: by
 * then namespace, field manager and dry run are what they will be on the wire, and all wrappers of a client share the memo.
 */
export class UnchangedApplies {
  readonly #memo = new ApplyMemo();
  readonly #ids = new ApplyIds();

  /** Names what is applied, by whom; undefined for other operations. */
  idOf(operation: Operation): string | undefined {
    return isApply(operation) ? this.#ids.of(operation) : undefined;
  }

  /** The answer to an apply that is a no-op. */
  find(id: string, operation: Operation): KubeObject | undefined {
    const { current, body } = operation;
    if (current === undefined) return undefined;
    const isNoOp = this.#memo.stands(id, body as object, current) || appliedAlready(operation, current);
    return isNoOp ? current : undefined;
  }

  /** The server has answered an apply: another one of the same body would change nothing as long as the answer stands. */
  remember(id: string, { body }: Operation, answer: KubeObject): void {
    this.#memo.remember(id, body as object, answer);
  }
}

function isApply(operation: Operation): boolean {
  return operation.contentType === patchTypes.apply && isJsonObject(operation.body) && !isDryRun(operation);
}

/** Whether the manager's own entry in managedFields says that it has applied just this, and the values are the same. */
function appliedAlready({ kind, body, params, subresource }: Operation, current: KubeObject): boolean {
  const { fieldManager } = params;
  const { managedFields } = current.metadata;
  // A field that a transform has dropped could be the one that this apply would remove.
  if (fieldManager === undefined || managedFields === undefined || lossOf(current) !== undefined) return false;
  const entries = managedFields.filter(
    (e) => e.manager === fieldManager && e.operation === 'Apply' && (e.subresource ?? '') === (subresource ?? ''),
  );
  // Applied in another version of the kind, too: field names may differ.
  if (entries.length !== 1 || entries[0]?.apiVersion !== kind.apiVersion) return false;
  return equal(extractFields(current, { fieldManager, subresource }), body);
}
