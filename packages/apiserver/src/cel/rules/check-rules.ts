import { isJsonObject, type Json, type JsonObject, type StructuralSchema } from 'riata/object';
import { fieldAtPath } from '../../schema/crd/field-at-path.js';
import {
  duplicate,
  type FieldError,
  forbidden,
  formatFieldError,
  invalid,
  required,
} from '../../status/field-error.js';
import { goQuote } from '../../status/go-quote.js';
import type { Steps } from '../../steps.js';
import { CelError, CostLimitError } from '../language/cel-error.js';
import { Optional, type Value } from '../language/value.js';
import type { Compiled, CompiledRule, Rule } from './compile-rule.js';
import { Correlation, oldElement } from './correlation.js';
import { withTypeAndMeta } from './declared-type.js';
import { type RuleNode, rootName, ruleTree } from './rule-tree.js';
import { schemaValue } from './schema-value.js';

/** The cost limit of one expression. */
const perCall = 1_000_000;
/** The cost limit of all rules of an object together. */
const budget = 10_000_000;
const maxMessageBytes = 5 * 1024;

export interface RuleFindings {
  readonly errors: readonly FieldError[];
  /** Rules that an unchanged part breaks. */
  readonly warnings: readonly string[];
}

/** The rules of a schema, to check objects with; undefined if it has none. */
export function ruleChecker(
  schema: StructuralSchema,
): ((object: JsonObject, old: JsonObject | undefined) => Steps<RuleFindings>) | undefined {
  let tree: RuleNode | undefined;
  // Errors and warnings are requested one after the other, and writes of other objects may come in between.
  const known = new WeakMap<JsonObject, { readonly old: JsonObject | undefined; readonly found: RuleFindings }>();
  if (!JSON.stringify(schema).includes('x-kubernetes-validations')) return undefined;
  return function* (object, old) {
    const before = known.get(object);
    if (before !== undefined && before.old === old) return before.found;
    // Two writes may both find that it is missing: the result is the same.
    tree ??= yield* ruleTree(schema);
    const check = new Check();
    if (tree !== undefined) yield* check.node(tree, '', object, old, Correlation.of(object, old, schema));
    known.set(object, { old, found: check });
    return check;
  };
}

/** Which rules of its schema a default breaks: as a value that stays, and as one that is new. */
export function* checkDefaultRules(value: Json, schema: StructuralSchema, path: string): Steps<readonly FieldError[]> {
  const tree = yield* ruleTree(schema, schema['x-kubernetes-embedded-resource'] === true);
  if (tree === undefined) return [];
  for (const old of [value, undefined]) {
    const check = new Check();
    yield* check.node(tree, path, value, old, Correlation.of(value, undefined, schema));
    if (check.errors.length > 0) return check.errors;
  }
  return [];
}

/** One walk through an object. */
class Check implements RuleFindings {
  readonly errors: FieldError[] = [];
  readonly warnings: string[] = [];
  #left = budget;

  /** False when the budget is used up and nothing more is checked. */
  *node(node: RuleNode, path: string, value: Json, old: Json | undefined, correlation: Correlation): Steps<boolean> {
    if (value === null) return true;
    if (node.rules.length > 0 && !(yield* this.#rules(node, path, value, old ?? undefined, correlation))) return false;
    for (const part of node.allOf) if (!(yield* this.node(part, path, value, old, correlation.inAllOf))) return false;
    if (Array.isArray(value)) {
      const { items } = node;
      if (items === undefined) return true;
      const before = Array.isArray(old) ? old : [];
      for (const [index, item] of value.entries()) {
        const was = oldElement(item, before, node.schema);
        if (!(yield* this.node(items, `${path}[${index}]`, item, was, correlation.element(index)))) return false;
      }
      return true;
    }
    if (!isJsonObject(value)) return true;
    const before = isJsonObject(old) ? old : {};
    for (const [key, member] of Object.entries(value)) {
      const below = node.values ?? node.properties.get(key);
      if (below === undefined || member === undefined) continue;
      const at = node.values !== undefined ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
      if (!(yield* this.node(below, at, member, before[key], correlation.member(key)))) return false;
    }
    return true;
  }

  *#rules(node: RuleNode, path: string, value: Json, old: Json | undefined, correlation: Correlation): Steps<boolean> {
    const type = node.schema.type ?? '';
    const complain = (problem: string) => this.errors.push(invalid(shown(path), type, problem));
    if (this.#left <= 0) {
      complain(outOfBudget);
      return false;
    }
    const schema = node.isRoot ? withTypeAndMeta(node.schema) : node.schema;
    const read = (json: Json) => schemaValue(json, schema, rootName);
    for (const { rule, condition, message } of node.rules) {
      if ('problem' in condition) {
        complain(`rule compile error: ${condition.problem}`);
        continue;
      }
      const optional = rule.optionalOldSelf === true;
      if (condition.usesOldSelf && old === undefined && !optional) continue;
      const values = new Map<string, Value>();
      const make = () => {
        values.set('self', read(value));
        const before = old === undefined ? undefined : read(old);
        if (optional) values.set('oldSelf', new Optional(before));
        else if (before !== undefined) values.set('oldSelf', before);
      };
      const outcome = prepared(make) ?? condition.program.run(values, perCall);
      yield;
      if (outcome.cost > this.#left) {
        complain(outOfBudget);
        this.#left = -1;
        return false;
      }
      this.#left -= outcome.cost;
      if ('error' in outcome) {
        if (!this.#failed(outcome.error, rule, complain)) return false;
      } else if (outcome.value !== true) {
        const problem = this.#message(rule, message, values);
        if (typeof problem !== 'string') {
          complain(problem.fatal);
          this.#left = -1;
          return false;
        }
        const error = errorOf(rule, pathOf(path, rule, node.schema), value, schema.type, problem);
        if (!condition.usesOldSelf && correlation.isUnchanged) this.warnings.push(formatFieldError(error));
        else this.errors.push(error);
      }
    }
    return true;
  }

  #failed(error: CelError | CostLimitError, rule: Rule, complain: (problem: string) => void): boolean {
    const { message } = error;
    if (error instanceof CostLimitError) {
      complain(
        `'${message}': no further validation rules will be run due to call cost exceeds limit for rule: ${named(rule)}`,
      );
      this.#left = -1;
      return false;
    }
    complain(
      message.startsWith('no such overload')
        ? `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${named(rule)}`
        : `${message} evaluating rule: ${named(rule)}`,
    );
    return true;
  }

  #message(
    rule: Rule,
    message: CompiledRule['message'],
    values: ReadonlyMap<string, Value>,
  ): string | { readonly fatal: string } {
    const otherwise =
      rule.message === undefined || rule.message === '' ? `failed rule: ${named(rule)}` : rule.message.trim();
    if (message === undefined || 'problem' in message) return otherwise;
    const outcome = (message as Compiled).program.run(values, perCall);
    if (outcome.cost > this.#left) {
      return {
        fatal:
          'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
      };
    }
    this.#left -= outcome.cost;
    if ('error' in outcome) {
      if (!(outcome.error instanceof CostLimitError)) return otherwise;
      const source = goQuote(rule.messageExpression ?? '');
      return {
        fatal: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${source}`,
      };
    }
    const text = typeof outcome.value === 'string' ? outcome.value.trim() : '';
    return text === '' || text.includes('\n') || new TextEncoder().encode(text).length > maxMessageBytes
      ? otherwise
      : text;
  }
}

const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run';

/** Values that cannot be read as the schema says are an error of the rule. */
function prepared(make: () => void): { readonly cost: number; readonly error: CelError } | undefined {
  try {
    make();
    return undefined;
  } catch (error) {
    if (error instanceof CelError) return { cost: 0, error };
    throw error;
  }
}

function named({ message = '', rule }: Rule): string {
  return (message === '' ? rule : message).trim();
}

function shown(path: string): string {
  return path === '' ? '<nil>' : path;
}

/** The path of the field that a rule blames. */
function pathOf(path: string, { fieldPath = '' }: Rule, schema: StructuralSchema): string {
  const found = fieldPath === '' ? undefined : fieldAtPath(fieldPath, schema as never);
  if (found === undefined || 'problem' in found) return shown(path);
  let at: StructuralSchema | undefined = schema;
  let text = path;
  for (const name of found.names) {
    const isNamed: boolean = at?.properties !== undefined;
    text += isNamed ? (text === '' ? name : `.${name}`) : `[${name}]`;
    at = isNamed ? at?.properties?.[name] : at?.additionalProperties;
  }
  return shown(text);
}

function errorOf(rule: Rule, path: string, value: Json, type: string | undefined, detail: string): FieldError {
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return forbidden(path, detail);
    case 'FieldValueRequired':
      return required(path, detail);
    case 'FieldValueDuplicate':
      if (type !== 'object' && type !== 'array') return duplicate(path, value);
      return { type: 'FieldValueDuplicate', field: path, body: 'Duplicate value' };
    default:
      if (type !== 'object' && type !== 'array') return invalid(path, value, detail);
      return { type: 'FieldValueInvalid', field: path, body: `Invalid value: ${detail}` };
  }
}
