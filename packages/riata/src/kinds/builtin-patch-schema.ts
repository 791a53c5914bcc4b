import type { KindRef } from '../object/kind.js';
import type { PatchNode, PatchRef, PatchSchema } from '../object/patch/patch-schema.js';
import { once } from '../object/value/once.js';
import { type PatchFact, patchFacts, patchRoots } from './generated/patch-facts.js';

/** Types by number. */
const nodes = patchFacts.map((facts) => once(() => nodeOf(facts)));
const lookup = (type: string): PatchNode | undefined => nodes[Number(type)]?.();

/**
 * What a strategic merge patch of a built-in kind has to know: which lists merge, and by which key
 * (`strategicpatch.NewPatchMetaFromStruct`). Undefined for other kinds: servers do not take strategic merge patches of
 * custom resources.
 *
 * ```ts
 * const schema = builtinPatchSchema(deployment);
 * const patched = schema && applyStrategicMergePatch(deployment, patch, schema);
 * ```
 */
export function builtinPatchSchema(kind: Pick<KindRef, 'apiVersion' | 'kind'>): PatchSchema | undefined {
  const name = `${kind.apiVersion}/${kind.kind}`;
  if (!Object.hasOwn(patchRoots, name)) return undefined;
  return { root: String(patchRoots[name]), lookup };
}

function nodeOf(facts: Readonly<Record<string, PatchFact>>): PatchNode {
  return { fields: Object.fromEntries(Object.entries(facts).map(([field, fact]) => [field, refOf(fact)])) };
}

function refOf([type, shape, strategy, patchMergeKey]: PatchFact): PatchRef {
  const ref = type < 0 ? undefined : String(type);
  return {
    ...(strategy ? { patchStrategy: strategy } : {}),
    ...(patchMergeKey ? { patchMergeKey } : {}),
    ...(ref === undefined ? {} : shape === 'list' ? { items: ref } : shape === 'map' ? { values: ref } : { type: ref }),
  };
}
