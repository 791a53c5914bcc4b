import type { KindRef } from '../object/kind.js';
import type { PatchNode, PatchRef, PatchSchema } from '../object/patch/patch-schema.js';
import { type PatchFact, patchFacts, patchRoots } from './generated/patch-facts.js';

const nodes = new Map<string, PatchNode>();

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

/** Types are named by their number, and made when a patch first gets there. */
function lookup(typeName: string): PatchNode | undefined {
  const facts = patchFacts[Number(typeName)];
  if (facts === undefined) return undefined;
  const known = nodes.get(typeName);
  if (known !== undefined) return known;
  const fields = Object.fromEntries(Object.entries(facts).map(([field, fact]) => [field, nodeOf(fact)]));
  const node: PatchNode = { fields };
  nodes.set(typeName, node);
  return node;
}

function nodeOf([type, shape, strategy, patchMergeKey]: PatchFact): PatchRef {
  const ref = type < 0 ? undefined : String(type);
  return {
    ...(strategy ? { patchStrategy: strategy } : {}),
    ...(patchMergeKey ? { patchMergeKey } : {}),
    ...(ref === undefined ? {} : shape === 'list' ? { items: ref } : shape === 'map' ? { values: ref } : { type: ref }),
  };
}
