import { applyJsonPatch, isJsonObject, type Json } from 'riata/object';

/** Thrown for a patch that cannot be done. kube-apiserver does not tell why. */
export class ImpossiblePatchError extends Error {
  override readonly name = 'ImpossiblePatchError';
}

/**
 * Does the steps of a JSON patch as kube-apiserver does, which is more forgiving than RFC 6902: what is to be replaced
 * need not be there, what is not there is tested for null, a missing value is null, indexes may count from the end, and
 * what stands before the first slash of a path does not matter. Throws an {@link ImpossiblePatchError}, or riata's `PatchError`.
 */
export function applyJsonPatchSteps(document: Json, steps: readonly Json[]): Json {
  let at = document;
  for (const step of steps) at = applyJsonPatch(at, strict(at, step)) as Json;
  return at;
}

type Step = Parameters<typeof applyJsonPatch>[1][number];

/** The same by the rules of RFC 6902; nothing, if there is nothing to be done. */
function strict(document: Json, step: Json): readonly Step[] {
  if (!isJsonObject(step)) throw new ImpossiblePatchError('no operation');
  const { op } = step;
  const value = step.value ?? null;
  const path = pathOf(document, step.path);
  if (op === 'test' && value === null && isMissingMember(document, path)) return [];
  if (op === 'add' || op === 'test') return [{ op, path, value }];
  if (op === 'remove') return [{ op, path }];
  if (op === 'replace')
    return [valueAt(document, path) === undefined ? lenient(document, path, value) : { op, path, value }];
  if (op !== 'move' && op !== 'copy') throw new ImpossiblePatchError('no such operation');
  const from = pathOf(document, step.from);
  if (op === 'copy' && isMissingMember(document, from)) return [{ op: 'add', path, value: null }];
  return [{ op, from, path }];
}

/** An object that is there does not have it. */
function isMissingMember(document: Json, path: string): boolean {
  return valueAt(document, path) === undefined && isJsonObject(valueAt(document, parentOf(path)));
}

/** A member that is not there can be replaced; an element cannot. */
function lenient(document: Json, path: string, value: Json): Step {
  const parent = valueAt(document, parentOf(path));
  if (!isJsonObject(parent)) throw new ImpossiblePatchError('nothing to replace');
  return { op: 'add', path, value };
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function pathOf(document: Json, path: Json | undefined): string {
  if (typeof path !== 'string' || !path.includes('/')) throw new ImpossiblePatchError('no path');
  const rooted = path.slice(path.indexOf('/'));
  const last = rooted.slice(rooted.lastIndexOf('/') + 1);
  if (!/^-[0-9]+$/.test(last)) return rooted;
  const parent = parentOf(rooted);
  const list = valueAt(document, parent);
  return Array.isArray(list) ? `${parent}/${list.length + Number(last)}` : rooted;
}

function valueAt(document: Json, pointer: string): Json | undefined {
  let at: Json | undefined = document;
  for (const token of pointer.split('/').slice(1)) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(at)) at = at[Number(name)];
    else if (isJsonObject(at) && Object.hasOwn(at, name)) at = at[name];
    else return undefined;
  }
  return at;
}
