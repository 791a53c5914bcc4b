// @ts-check
/** What a strategic merge patch must know of the built-in kinds: which lists merge, and by which key. */

/** @typedef {import('./source.mjs').Schema} Schema */
/** @typedef {import('./source.mjs').Resource} Resource */

const prefix = '#/definitions/';

/**
 * @param {Map<string, Schema>} definitions
 * @param {Resource[]} resources
 */
export function emitPatchFacts(definitions, resources) {
  /** @type {Map<string, Map<string, [ref: string, shape: string, strategy: string, key: string]>>} */
  const facts = new Map();
  for (const [name, schema] of definitions) {
    const fields = new Map();
    for (const [field, value] of Object.entries(schema.properties ?? {})) {
      const ref = (value.$ref ?? value.items?.$ref ?? value.additionalProperties?.$ref ?? '').slice(prefix.length);
      const shape = value.items ? 'list' : value.additionalProperties ? 'map' : '';
      const strategy = value['x-kubernetes-patch-strategy'] ?? '';
      if (ref || strategy) fields.set(field, [ref, shape, strategy, value['x-kubernetes-patch-merge-key'] ?? '']);
    }
    facts.set(name, fields);
  }
  const telling = tellingTypes(facts);
  const reached = new Set();
  /** @param {string} name */
  const reach = (name) => {
    if (!telling.has(name) || reached.has(name)) return;
    reached.add(name);
    for (const [ref] of facts.get(name)?.values() ?? []) reach(ref);
  };
  for (const r of resources) reach(r.definition);
  const number = new Map([...reached].sort().map((name, index) => [name, index]));
  const rows = [...number.keys()].map((name) => {
    const cells = [];
    for (const [field, [ref, shape, strategy, key]] of facts.get(name) ?? []) {
      const to = number.get(ref);
      if (to === undefined && strategy === '') continue;
      const tuple = [to ?? -1, shape, strategy, key];
      while (tuple.at(-1) === '') tuple.pop();
      cells.push(
        `${/^\w+$/.test(field) ? field : `'${field}'`}: [${tuple.map((t) => (typeof t === 'number' ? t : `'${t}'`)).join(', ')}]`,
      );
    }
    return `  { ${cells.join(', ')} },`;
  });
  const roots = resources
    .filter((r) => number.has(r.definition))
    .map((r) => `  '${r.group ? `${r.group}/` : ''}${r.version}/${r.kind}': ${number.get(r.definition)},`);
  return [
    "import type { PatchStrategy } from '../../object/patch/patch-schema.js';",
    '',
    "export type PatchFact = readonly [type: number, shape?: '' | 'list' | 'map', strategy?: PatchStrategy | '', mergeKey?: string];",
    '',
    '/** Per type, its fields that matter: the type they lead to (-1: none), whether as a list or map of it, the patch strategy, the merge key. */',
    'export const patchFacts: readonly Readonly<Record<string, PatchFact>>[] = [',
    ...rows,
    '];',
    '',
    '/** `apiVersion/kind` → index in `patchFacts`. */',
    'export const patchRoots: Readonly<Record<string, number>> = {',
    ...roots,
    '};',
    '',
  ].join('\n');
}

/** Types that have a strategy themselves or lead to one that has: all others merge as any JSON does. @param {Map<string, Map<string, [string, string, string, string]>>} facts */
function tellingTypes(facts) {
  const telling = new Set();
  for (let before = -1; before !== telling.size; ) {
    before = telling.size;
    for (const [name, fields] of facts) {
      if ([...fields.values()].some(([ref, , strategy]) => strategy !== '' || telling.has(ref))) telling.add(name);
    }
  }
  return telling;
}
