import type { GroupVersionKind, PatchNode, PatchRef, PatchSchema } from 'riata/object';
import { builtInGroupVersions } from '../../resource/built-in/built-in-resources.js';
import { type GoStruct, goStruct } from './go-type.js';
import { SchemaNode } from './schema-node.js';

/** Read from the generated types on first use: constants, the same for every server. */
const nodes = new Map<string, SchemaNode>();

/** The schema of a built-in kind, a subresource's (`autoscaling/v1` `Scale`) included; undefined for any other kind. */
export function builtInSchema({ group, version, kind }: GroupVersionKind): SchemaNode | undefined {
  const name = `${group}/${version}/${kind}`;
  const known = nodes.get(name);
  if (known !== undefined) return known;
  const home = builtInGroupVersions().find((gv) => gv.group === group && gv.version === version);
  const struct = home && (goStruct(home.typesPackage, kind) ?? optionsOf(kind));
  if (struct === undefined) return undefined;
  const node = new SchemaNode(struct);
  nodes.set(name, node);
  return node;
}

/** Kinds that are registered in every group. */
function optionsOf(kind: string): GoStruct | undefined {
  return kind === 'DeleteOptions' ? goStruct('meta/v1', kind) : undefined;
}

/** The facts for a strategic merge patch of a built-in kind; undefined for any other kind. */
export function builtInPatchSchema(gvk: GroupVersionKind): PatchSchema | undefined {
  const struct = builtInSchema(gvk)?.struct;
  return struct && { root: struct.id, lookup };
}

/** As {@link nodes}. */
const patchNodes = new Map<string, PatchNode>();

function lookup(typeName: string): PatchNode | undefined {
  const known = patchNodes.get(typeName);
  if (known !== undefined) return known;
  const dot = typeName.lastIndexOf('.');
  const struct = goStruct(typeName.slice(0, dot), typeName.slice(dot + 1));
  if (struct === undefined) return undefined;
  const fields: Record<string, PatchRef> = {};
  for (const [name, child] of Object.entries(new SchemaNode(struct).properties ?? {})) {
    const ref = refOf(child);
    if (ref !== undefined) fields[name] = ref;
  }
  const node: PatchNode = { fields };
  patchNodes.set(typeName, node);
  return node;
}

function refOf(node: SchemaNode): PatchRef | undefined {
  const { patchStrategy, patchMergeKey, struct } = node;
  if (patchStrategy === undefined && struct === undefined) return undefined;
  return {
    ...(patchStrategy === undefined ? {} : { patchStrategy }),
    ...(patchMergeKey === undefined ? {} : { patchMergeKey }),
    ...(struct &&
      (node.items ? { items: struct.id } : node.additionalProperties ? { values: struct.id } : { type: struct.id })),
  };
}
