import type { StructuralSchema } from 'riata/object';
import type { SchemaProps } from '../../schema/crd/crd-object.js';
import { type FieldError, forbidden, invalid } from '../../status/field-error.js';
import type { Steps } from '../../steps.js';
import { costOfRule } from './compile-rule.js';
import { declaredType, maxCardinality } from './declared-type.js';
import { rootName } from './rule-tree.js';

/** The cost limit of one rule, over all the values it is run on. */
const perRule = 10_000_000;
/** The cost limit of all rules of a schema together. */
const perSchema = 100_000_000;

interface Place {
  readonly path: string;
  /** How many such values there can be by the limits of the lists and maps around; undefined if one has no limit. */
  readonly count: number | undefined;
  readonly isRoot: boolean;
  /** The nearest list without keys, whose elements before and after a change cannot be correlated. */
  readonly uncorrelated: string | undefined;
}

/** The problems of the rules in the schema of a CRD, which is structural. */
export function* checkSchemaRules(schema: SchemaProps, path: string): Steps<FieldError[]> {
  const check = new Check();
  yield* check.node(schema as unknown as StructuralSchema, { path, count: 1, isRoot: true, uncorrelated: undefined });
  return check.all(path);
}

class Check {
  readonly #errors: FieldError[] = [];
  readonly #expensive: { readonly path: string; readonly cost: number }[] = [];
  #total = 0;

  all(path: string): FieldError[] {
    if (this.#total <= perSchema) return this.#errors;
    const most = this.#expensive.sort((a, b) => b.cost - a.cost).slice(0, 4);
    const detail = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    return [
      ...this.#errors,
      ...most.map((rule) => forbidden(rule.path, detail)),
      forbidden(path, tooExpensive(what, this.#total, perSchema)),
    ];
  }

  *node(schema: StructuralSchema, place: Place): Steps<void> {
    const { path, uncorrelated } = place;
    const limit = limitOf(schema);
    const count = place.count === undefined || limit === undefined ? undefined : place.count * limit;
    const { additionalProperties, items, properties = {} } = schema;
    const below = (at: string, of: StructuralSchema, apart = uncorrelated): Steps<void> => {
      const isRoot = of['x-kubernetes-embedded-resource'] === true;
      return this.node(of, { path: `${path}.${at}`, count, isRoot, uncorrelated: apart });
    };
    if (additionalProperties !== undefined) yield* below('additionalProperties', additionalProperties);
    for (const [name, property] of Object.entries(properties)) yield* below(`properties[${name}]`, property);
    if (items !== undefined) {
      yield* below('items', items, uncorrelated ?? (schema['x-kubernetes-list-type'] === 'map' ? undefined : path));
    }
    yield* this.#rules(schema, place);
  }

  *#rules(schema: StructuralSchema, { path, count, isRoot, uncorrelated }: Place): Steps<void> {
    const rules = schema['x-kubernetes-validations'] ?? [];
    const type = rules.length === 0 ? undefined : declaredType(schema, isRoot, rootName);
    if (type === undefined) return;
    for (const [index, rule] of rules.entries()) {
      const at = `${path}.x-kubernetes-validations[${index}]`;
      const { condition, message } = yield* costOfRule(rule, type);
      yield;
      if ('problem' in condition) {
        this.#errors.push(invalid(`${at}.rule`, printed(rule), condition.problem));
        if (rule.optionalOldSelf !== undefined) {
          const detail = 'may not be set if oldSelf is not used in rule';
          this.#errors.push(invalid(`${at}.optionalOldSelf`, rule.optionalOldSelf, detail));
        }
        continue;
      }
      this.#cost(`${at}.rule`, condition.maxCost * (count ?? maxCardinality(type)), 'estimated rule cost');
      if (message !== undefined) {
        if ('problem' in message) {
          this.#errors.push(invalid(`${at}.messageExpression`, printed(rule), message.problem));
        } else this.#cost(`${at}.messageExpression`, message.maxCost, 'estimated messageExpression cost');
      }
      if (condition.usesOldSelf) {
        if (uncorrelated !== undefined) {
          const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`;
          this.#errors.push(invalid(`${at}.rule`, rule.rule, detail));
        }
      } else if (rule.optionalOldSelf !== undefined) {
        const detail = 'may not be set if oldSelf is not used in rule';
        this.#errors.push(invalid(`${at}.optionalOldSelf`, rule.optionalOldSelf, detail));
      }
    }
  }

  #cost(path: string, cost: number, what: string): void {
    if (cost > perRule) this.#errors.push(forbidden(path, tooExpensive(what, cost, perRule)));
    this.#total += cost;
    if (cost >= perSchema / 100) this.#expensive.push({ path, cost });
  }
}

function limitOf(schema: StructuralSchema): number | undefined {
  if (schema.type === 'array') return schema.maxItems === undefined ? undefined : Math.max(0, schema.maxItems);
  if (schema.type !== 'object' || schema.additionalProperties === undefined) return 1;
  return schema.maxProperties === undefined ? undefined : Math.max(0, schema.maxProperties);
}

function tooExpensive(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

/** A rule as upstream prints it: with the names and all the fields of its Go type. */
function printed(rule: NonNullable<StructuralSchema['x-kubernetes-validations']>[number]): unknown {
  return {
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  };
}
