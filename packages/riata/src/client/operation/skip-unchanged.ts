import { extractFields } from '../../object/apply/extract-fields.js';
import { isJsonObject } from '../../object/json.js';
import type { KubeObject } from '../../object/meta.js';
import { equal } from '../../object/value/equal.js';
import { lossOf } from '../../object/value/lossy.js';
import { patchTypes } from '../../rest/rest-client.js';
import { ApplyIds } from './apply-ids.js';
import { ApplyMemo } from './apply-memo.js';
import { type Answers, isDryRun, type Operation, type Run, type Verb } from './operation.js';

/**
 * Answers an apply patch with its `current` object if applying would not change that. Below all wrappers: by then
 * namespace, field manager and dry run are what they will be on the wire, and all wrappers of a client share the memo.
 */
export function skipUnchanged(run: Run): Run {
  const memo = new ApplyMemo();
  const ids = new ApplyIds();
  return <V extends Verb>(operation: Operation<V>): Promise<Answers[V]> => {
    if (!isApply(operation)) return run(operation);
    const { current } = operation;
    const id = ids.of(operation);
    if (current === undefined || !isNoOp(id, operation, current, memo))
      return applyAndRemember(id, run, operation, memo);
    return Promise.resolve(current as Answers[V]);
  };
}

function isNoOp(id: string, operation: Operation, current: KubeObject, memo: ApplyMemo): boolean {
  return memo.stands(id, operation.body as object, current) || appliedAlready(operation, current);
}

async function applyAndRemember<V extends Verb>(
  id: string,
  run: Run,
  operation: Operation<V>,
  memo: ApplyMemo,
): Promise<Answers[V]> {
  const answer = await run(operation);
  memo.remember(id, operation.body as object, answer as KubeObject);
  return answer;
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
