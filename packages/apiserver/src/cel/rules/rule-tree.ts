import { escapeFieldName, type StructuralSchema } from 'riata/object';
import type { Steps } from '../../steps.js';
import { type CompiledRule, compileRule } from './compile-rule.js';
import { type DeclaredType, declaredType } from './declared-type.js';

/** The rules of a schema and of all below it, as a tree that is walked together with an object. */
export interface RuleNode {
  /** Of the value that the rules are about. */
  readonly schema: StructuralSchema;
  readonly isRoot: boolean;
  readonly rules: readonly CompiledRule[];
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly values: RuleNode | undefined;
  readonly items: RuleNode | undefined;
  readonly allOf: readonly RuleNode[];
}

/** The name of the type of `self`; it cannot be written in an expression. */
export const rootName = 'selfType';

/** Undefined when there are no rules. `isRoot`: of a whole object, with kind and metadata. */
export function* ruleTree(schema: StructuralSchema, isRoot = true): Steps<RuleNode | undefined> {
  if (!hasRules(schema)) return undefined;
  return yield* nodeOf(schema, schema, isRoot, declaredType(schema, isRoot, rootName));
}

/** `from` has the rules; `schema` says what the values are: they differ inside `allOf`. */
function* nodeOf(
  from: StructuralSchema,
  schema: StructuralSchema,
  isRoot: boolean,
  type: DeclaredType | undefined,
): Steps<RuleNode | undefined> {
  const own = (from['x-kubernetes-validations'] ?? []).filter(({ rule }) => rule.trim() !== '');
  const self = own.length === 0 || type === undefined ? undefined : declaredType(schema, isRoot, rootName);
  const rules: CompiledRule[] = [];
  for (const rule of self === undefined ? [] : own) {
    rules.push(yield* compileRule(rule, self as DeclaredType));
    yield;
  }
  const items = from.items && schema.items && (yield* nodeBelow(from.items, schema.items, type?.of));
  const values =
    from.additionalProperties &&
    schema.additionalProperties &&
    (yield* nodeBelow(from.additionalProperties, schema.additionalProperties, type?.of));
  const properties = new Map<string, RuleNode>();
  for (const [name, property] of Object.entries(from.properties ?? {})) {
    const of = schema.properties?.[name];
    if (of === undefined || type === undefined) continue;
    const escaped = escapeFieldName(name);
    const isEmbedded = of['x-kubernetes-embedded-resource'] === true;
    const fieldType = escaped === undefined ? declaredType(of, isEmbedded, rootName) : type.fields?.get(escaped);
    const node = fieldType && (yield* nodeOf(property, of, isEmbedded, fieldType));
    if (node !== undefined) properties.set(name, node);
  }
  const allOf: RuleNode[] = [];
  for (const part of from.allOf ?? []) {
    const node = yield* nodeOf(part, schema, isRoot, type);
    if (node !== undefined) allOf.push(node);
  }
  if (rules.length + properties.size + allOf.length === 0 && !items && !values) return undefined;
  return { schema, isRoot, rules, properties, values, items, allOf };
}

function nodeBelow(from: StructuralSchema, schema: StructuralSchema, type: DeclaredType | undefined) {
  return nodeOf(from, schema, schema['x-kubernetes-embedded-resource'] === true, type);
}

function hasRules(schema: StructuralSchema | undefined): boolean {
  if (schema === undefined) return false;
  if ((schema['x-kubernetes-validations']?.length ?? 0) > 0) return true;
  return (
    hasRules(schema.items) ||
    hasRules(schema.additionalProperties) ||
    Object.values(schema.properties ?? {}).some(hasRules)
  );
}
