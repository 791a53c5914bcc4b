import type { StructuralSchema } from '../../object/schema/structural-schema.js';
import { getOwn } from '../../object/value/own.js';

/** The parts of a CustomResourceDefinition that determine what can be stored. */
export interface CrdShape {
  readonly spec: {
    readonly scope: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema?: { readonly openAPIV3Schema?: unknown } }[];
  };
  readonly status?: { readonly storedVersions?: readonly string[] };
}

/** Data that a change of a definition would lose. */
export interface CrdLoss {
  /** `'all'`: objects could no longer be read; `'fields'`: fields would be lost on the next write. */
  readonly of: 'all' | 'fields';
  /** For people: what, and where. */
  readonly what: string;
}

/** The data that stored objects would lose if the definition `from` became `to`. Sends no request. */
export function crdLosses(from: CrdShape, to: CrdShape): CrdLoss[] {
  const losses: CrdLoss[] = [];
  const all = (what: string) => losses.push({ of: 'all', what });
  if (from.spec.scope !== to.spec.scope) all(`scope would change from ${from.spec.scope} to ${to.spec.scope}`);
  const [before, after] = [from.spec.names.kind, to.spec.names.kind];
  if (before !== after) all(`the kind would be renamed from ${before} to ${after}`);
  for (const name of from.status?.storedVersions ?? []) {
    const next = to.spec.versions.find((version) => version.name === name);
    if (next === undefined) {
      all(`version ${name} would be removed while objects are stored in it`);
      continue;
    }
    const old = schemaOf(from.spec.versions.find((version) => version.name === name));
    const found = schemaLosses(old, schemaOf(next), '');
    losses.push(...found.map((what): CrdLoss => ({ of: 'fields', what: `${name}: ${what}` })));
  }
  return losses;
}

function schemaOf(version: CrdShape['spec']['versions'][number] | undefined): StructuralSchema {
  return (version?.schema?.openAPIV3Schema ?? {}) as StructuralSchema;
}

function schemaLosses(from: StructuralSchema, to: StructuralSchema, path: string): string[] {
  const keeps = (schema: StructuralSchema) => schema['x-kubernetes-preserve-unknown-fields'] === true;
  const at = path === '' ? 'the object' : path;
  const type = changedType(from, to);
  if (type !== undefined) return [`${at} would be ${type}`];
  const losses: string[] = [];
  if (keeps(from) && !keeps(to)) losses.push(`${at} would no longer preserve unknown fields`);
  for (const [name, field] of Object.entries(from.properties ?? {})) {
    const below = path === '' ? name : `${path}.${name}`;
    const next = (getOwn(to.properties ?? {}, name) as StructuralSchema | undefined) ?? to.additionalProperties;
    if (next !== undefined) losses.push(...schemaLosses(field, next, below));
    else if (!keeps(to) && !(path === '' && name === 'metadata')) losses.push(`${below} would be removed`);
  }
  if (from.additionalProperties !== undefined) {
    const next = to.additionalProperties;
    if (next !== undefined) losses.push(...schemaLosses(from.additionalProperties, next, `${path}.*`));
    else if (!keeps(to)) losses.push(`${at} would no longer accept arbitrary keys`);
  }
  if (from.items !== undefined && to.items !== undefined)
    losses.push(...schemaLosses(from.items, to.items, `${path}[]`));
  return losses;
}

/** Another type, unless the new one takes every value of the old one. */
function changedType(from: StructuralSchema, to: StructuralSchema): string | undefined {
  const typeOf = (schema: StructuralSchema) => {
    return schema['x-kubernetes-int-or-string'] === true ? 'integer or string' : schema.type;
  };
  const [before, after] = [typeOf(from), typeOf(to)];
  if (before === after || before === undefined || after === undefined) return undefined;
  const isWider =
    (before === 'integer' && after === 'number') ||
    (after === 'integer or string' && (before === 'integer' || before === 'string'));
  return isWider ? undefined : `${after} instead of ${before}`;
}
