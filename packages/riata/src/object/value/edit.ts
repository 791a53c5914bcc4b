import { clone } from './clone.js';
import { freeze } from './freeze.js';
import type { Mutable } from './mutable.js';
import { share } from './share.js';

/**
 * A changed copy: the recipe changes the draft, `edit` returns the new object. `x` is never touched, frozen or not.
 *
 * ```ts
 * const scaled = edit(deployment, (draft) => { draft.spec.replicas = 3; });
 * ```
 *
 * Subtrees that the recipe left as they were are those of `x` (`scaled.metadata === deployment.metadata`), and when
 * nothing changed `x` itself is returned. The result is frozen when `x` is; otherwise it is not, and shares what did not
 * change with `x`. What is known about losses (`lossOf`) goes over.
 *
 * The recipe runs at once and changes the draft in place: an async recipe is a `TypeError`, and so is one that returns a
 * new object instead. Other return values (as of `(draft) => draft.items.push(…)`) are ignored. Do not keep the draft.
 */
export function edit<T extends object>(x: T, recipe: (draft: Mutable<T>) => void): T {
  const draft = clone(x);
  const returned = recipe(draft) as unknown;
  if (typeof returned === 'object' && returned !== null && returned !== draft) refuse(draft, returned);
  const next = share(x, draft as T);
  return next !== x && Object.isFrozen(x) ? freeze(next) : next;
}

function refuse(draft: unknown, returned: object): void {
  if (typeof (returned as { then?: unknown }).then === 'function') {
    // Its failure is of no interest any more, and must not end the process as an unhandled rejection.
    void Promise.resolve(returned).catch(() => {});
    throw new TypeError('edit: the recipe is async, so its changes would be lost; await first, then edit');
  }
  // `(draft) => draft.items.splice(…)` returns what it took out, `(draft) => (draft.metadata.labels = {…})` what it
  // assigned: harmless.
  if (Array.isArray(returned) || contains(draft, returned)) return;
  throw new TypeError(
    'edit: the recipe returned an object that is not part of the draft; change the draft in place and return nothing',
  );
}

function contains(root: unknown, expected: object): boolean {
  const seen = new Set<object>();
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const node = pending.pop();
    if (typeof node !== 'object' || node === null || seen.has(node)) continue;
    if (node === expected) return true;
    seen.add(node);
    for (const child of Object.values(node) as unknown[]) pending.push(child);
  }
  return false;
}
