import { extractFields } from '../../object/apply/extract-fields.js';
import { isJsonObject } from '../../object/json.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { equal } from '../../object/value/equal.js';
import { lossOf } from '../../object/value/lossy.js';
import { patchTypes } from '../../rest/rest-client.js';
import { ApplyMemo } from './apply-memo.js';
import { type Answers, isDryRun, type Operation, type Run, type Verb } from './operation.js';

/**
 * Answers an apply patch with its `current` object if applying would not change that. Below all wrappers: by then
 * namespace, field manager and dry run are what they will be on the wire, and all wrappers of a client share the memo.
 */
export function skipUnchanged(run: Run, memo = new ApplyMemo()): Run {
  return <V extends Verb>(operation: Operation<V>): Promise<Answers[V]> => {
    if (!isApply(operation)) return run(operation);
    const { current } = operation;
    if (current === undefined || !isNoOp(operation, current, memo)) return applyAndRemember(run, operation, memo);
    return Promise.resolve(current as Answers[V]);
  };
}

function isNoOp(operation: Operation, current: KubeObject, memo: ApplyMemo): boolean {
  return memo.stands(idOf(operation), operation.body as object, current) || appliedAlready(operation, current);
}

async function applyAndRemember<V extends Verb>(
  run: Run,
  operation: Operation<V>,
  memo: ApplyMemo,
): Promise<Answers[V]> {
  const answer = await run(operation);
  memo.remember(idOf(operation), operation.body as object, answer as KubeObject);
  return answer;
}

function isApply(operation: Operation): boolean {
  return operation.contentType === patchTypes.apply && isJsonObject(operation.body) && !isDryRun(operation);
}

/** What names of kind, subresource and manager come to, so that they need not be put together for each object. */
interface Prefix {
  readonly subresource: string | undefined;
  readonly fieldManager: string | undefined;
  readonly text: string;
}

const prefixes = new WeakMap<KindRef, Prefix[]>();
const maxPrefixes = 16;

/** No name holds a zero character. */
function idOf({ kind, namespace, name, subresource, params: { fieldManager } }: Operation): string {
  let known = prefixes.get(kind);
  if (known === undefined) {
    known = [];
    prefixes.set(kind, known);
  }
  let prefix = known.find((one) => one.subresource === subresource && one.fieldManager === fieldManager);
  if (prefix === undefined) {
    const text = `${kind.apiVersion}\0${kind.kind}\0${subresource ?? ''}\0${fieldManager}\0`;
    prefix = { subresource, fieldManager, text };
    if (known.length < maxPrefixes) known.push(prefix);
  }
  return `${prefix.text}${namespace ?? ''}\0${name}`;
}

/** Whether the manager's own entry in managedFields says that it has applied just this, and the values are the same. */
function appliedAlready({ kind, body, params, subresource }: Operation, current: KubeObject): boolean {
  const { fieldManager } = params;
  const { managedFields } = current.metadata;
  // What a transform has dropped could be just what this apply would remove.
  if (fieldManager === undefined || managedFields === undefined || lossOf(current) !== undefined) return false;
  const entries = managedFields.filter(
    (e) => e.manager === fieldManager && e.operation === 'Apply' && (e.subresource ?? '') === (subresource ?? ''),
  );
  // Applied in another version of the kind, too: field names may differ.
  if (entries.length !== 1 || entries[0]?.apiVersion !== kind.apiVersion) return false;
  return equal(extractFields(current, { fieldManager, subresource }), body);
}
