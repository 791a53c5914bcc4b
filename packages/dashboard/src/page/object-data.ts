import type { CacheLag, ConditionChange, LoggedWrite } from 'riata/manager';
import type { KubeObject } from 'riata/object';
import type { ObjectRef } from './route.js';
import { queryOf } from './route.js';

/** A neighbour in the owner graph. */
export interface GraphNode extends ObjectRef {
  readonly uid: string;
  readonly of: string;
  readonly controller: boolean;
  readonly isKnown: boolean;
}

/** The answer of `/debug/object`. */
export interface ObjectAnswer {
  readonly object: (KubeObject & { readonly status?: { readonly conditions?: readonly ShownCondition[] } }) | null;
  readonly writes: readonly LoggedWrite[];
  readonly conditionChanges?: readonly ConditionChange[];
  readonly events?: readonly {
    readonly type?: string;
    reason?: string;
    message?: string;
    count: number;
    by?: string;
    at?: string;
  }[];
  readonly eventsProblem?: string;
  readonly owners?: readonly GraphNode[];
  readonly owned?: readonly GraphNode[];
  readonly actions?: { readonly allowed: boolean; readonly reason?: string };
}

export interface ShownCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** An answer that says no, with its reason. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** @param seen the resourceVersion that is shown: the answer is undefined while the cache has the same one */
export async function fetchObject(ref: ObjectRef, seen?: string): Promise<ObjectAnswer | undefined> {
  const response = await fetch(`/debug/object?${queryOf(ref)}${seen === undefined ? '' : `&seen=${seen}`}`);
  const answer = await response.json();
  if (answer.unchanged === true) return undefined;
  if (!response.ok && answer.object !== null) throw new RefusedError(answer.message ?? `status ${response.status}`);
  return answer as ObjectAnswer;
}

export async function fetchObjects(
  query: URLSearchParams,
): Promise<{ readonly objects: readonly ObjectRef[]; isWhole: boolean; hidden: readonly string[] }> {
  const response = await fetch(`/debug/objects?${query}`);
  const answer = await response.json();
  if (!response.ok) throw new RefusedError(answer.message ?? `status ${response.status}`);
  return answer;
}

/** Has the lag of all caches measured, which takes up to three seconds. */
export async function fetchLags(): Promise<ReadonlyMap<string, CacheLag>> {
  const response = await fetch('/debug/cache-lag');
  // An operator with an older version has no such page.
  if (!response.ok) return new Map();
  const { caches } = (await response.json()) as { readonly caches: readonly CacheLag[] };
  return new Map(caches.map((each) => [each.id, each]));
}

/** Pauses, resumes or triggers the reconciles of an object. */
export async function act(action: 'pause' | 'resume' | 'reconcile', ref: ObjectRef): Promise<void> {
  const response = await fetch('/debug/actions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-riata-action': action },
    body: JSON.stringify({ action, ...ref }),
  });
  if (!response.ok)
    throw new RefusedError(((await response.json()) as { message?: string }).message ?? `status ${response.status}`);
}

/** The key of a list's member, as in `[type=Ready]`. */
function keyText(json: string): string {
  try {
    const key: unknown = JSON.parse(json);
    if (typeof key !== 'object' || key === null) return json;
    return Object.entries(key)
      .map(([name, value]) => `${name}=${value}`)
      .join(',');
  } catch {
    return json;
  }
}

/** Which manager owns which fields, as paths. */
export function ownedFields(fields: unknown, prefix = ''): readonly string[] {
  if (typeof fields !== 'object' || fields === null) return [];
  const entries = Object.entries(fields).filter(([name]) => name !== '.');
  if (entries.length === 0) return [prefix];
  return entries.flatMap(([name, below]) => {
    const step = name.startsWith('f:') ? `${prefix === '' ? '' : '.'}${name.slice(2)}` : `[${keyText(name.slice(2))}]`;
    return ownedFields(below, `${prefix}${step}`);
  });
}
