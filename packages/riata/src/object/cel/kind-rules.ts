import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { Problems } from '../schema/schema-error.js';
import type { CelRule, SchemaExtension, StructuralSchema } from '../schema/structural-schema.js';
import { isCelCompileError } from './cel-compile-error.js';
import { nameNode } from './cel-node.js';
import type { CelOf, CelString, CelTest, Presence } from './cel-types.js';
import { type CompileOptions, compileTest, compileText } from './compile-cel.js';

/** The arguments of a rule's functions: expressions, not values. */
export interface RuleContext<Self, Old = Self> {
  /** The value that the rule is on. */
  readonly self: CelOf<Self>;
  /** Its stored form. A rule that names it runs on updates only, unless it has `optionalOldSelf`. */
  readonly oldSelf: CelOf<Old>;
}

interface RuleParts<Context> {
  /** The message for a refused writer. @default the rule */
  readonly message?: string;
  /** The message as an expression, with values in it. */
  readonly messageExpression?: (context: Context) => CelString<string, Presence>;
  /** @default 'FieldValueInvalid' */
  readonly reason?: NonNullable<CelRule['reason']>;
  /** The field blamed, relative to the value, e.g. `.replicas`. @default the value itself */
  readonly fieldPath?: string;
}

/** What a rule has besides its test. */
export type RuleOptions<Self, Old = Self> = RuleParts<RuleContext<Self, Old>>;

const ruleOptionNames = optionNames<RuleOptions<unknown>>({
  message: true,
  messageExpression: true,
  reason: true,
  fieldPath: true,
});
const ruleNames = ruleOptionNames.and<AnyRule>({ at: true, require: true, optionalOldSelf: true });

interface PlainRule<Self> extends RuleParts<RuleContext<Self>> {
  /** What has to be true. */
  readonly require: (context: RuleContext<Self>) => CelTest;
  /** Runs a rule that names `oldSelf` on create, too, where that is absent. @default false */
  readonly optionalOldSelf?: false;
}

interface CreateRule<Self> extends RuleParts<RuleContext<Self, Self | undefined>> {
  readonly require: (context: RuleContext<Self, Self | undefined>) => CelTest;
  readonly optionalOldSelf: true;
}

type RuleOn<Self> = PlainRule<Self> | CreateRule<Self>;

interface RootFields {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly generateName?: string };
}

/**
 * A rule in TypeScript (`x-kubernetes-validations`): on the spec, unless `at` names the status or, as `.`, the whole
 * object. Its functions are called once, and compiled to CEL.
 */
export type KindRule<Spec = never, Status = never> =
  | (RuleOn<Spec> & { readonly at?: 'spec' })
  | (RuleOn<Partial<Status>> & { readonly at: 'status' })
  | (RuleOn<RootFields & { readonly spec: Spec; readonly status?: Partial<Status> }> & { readonly at: '.' });

/** A rule whatever its types are. */
type AnyRule = Omit<RuleParts<never>, 'messageExpression'> & {
  readonly at?: string;
  readonly require: (context: never) => unknown;
  readonly messageExpression?: (context: never) => unknown;
  readonly optionalOldSelf?: boolean;
};

/** Starts the text of a rule that is compiled once its schema is known. */
const marker = 'riata.rule:';

/** Keywords by path, with a place for each rule: a refinement of a schema library is fine where a rule stands. */
export function withRulePlaces(
  extend: Readonly<Record<string, SchemaExtension>>,
  rules: readonly unknown[],
): Readonly<Record<string, SchemaExtension>> {
  const all: Record<string, SchemaExtension> = { ...extend };
  for (const [index, rule] of (rules as readonly AnyRule[]).entries()) {
    refuseUnknownOptions(`defineKind: rules[${index}]`, rule, ruleNames);
    const { at = 'spec' } = rule;
    const own = all[at] ?? {};
    const before = own['x-kubernetes-validations'] ?? [];
    all[at] = { ...own, 'x-kubernetes-validations': [...before, { rule: `${marker}${index}` }] };
  }
  return all;
}

/** A schema with the rules in their places, compiled. Reports what cannot be compiled. */
export function withCompiledRules(
  schema: StructuralSchema,
  rules: readonly unknown[],
  problems: Problems,
): StructuralSchema {
  if (rules.length === 0) return schema;
  const compiled = (at: StructuralSchema): StructuralSchema => {
    const own = at['x-kubernetes-validations']?.map((rule) => {
      if (!rule.rule.startsWith(marker)) return rule;
      const index = Number(rule.rule.slice(marker.length));
      return compileOrReport(rules[index] as AnyRule, at, `rules[${index}]`, problems);
    });
    return own === undefined ? at : { ...at, 'x-kubernetes-validations': own };
  };
  const properties = { ...schema.properties };
  for (const name of ['spec', 'status']) {
    const part = properties[name];
    if (part !== undefined) properties[name] = compiled(part);
  }
  return compiled({ ...schema, properties });
}

function compileOrReport(rule: AnyRule, schema: StructuralSchema, at: string, problems: Problems): CelRule {
  try {
    return compileRule(rule, 'the rule', schema);
  } catch (error) {
    if (!isCelCompileError(error)) throw error;
    problems.add(at, error.message);
    return { rule: 'true' };
  }
}

function compileRule(rule: AnyRule, subject: string, schema?: StructuralSchema): CelRule {
  const { require, message, messageExpression, reason, fieldPath, optionalOldSelf } = rule;
  const options: CompileOptions = {
    subject,
    style: 'has',
    roots: {
      self: nameNode('self', { schema, trusted: true, isObject: rule.at === '.' }),
      // It may have been stored under another schema.
      oldSelf: nameNode('oldSelf', { schema, absent: optionalOldSelf === true ? 'optional' : undefined }),
    },
  };
  return {
    rule: compileTest(require, options),
    ...(message === undefined ? {} : { message }),
    ...(messageExpression === undefined ? {} : { messageExpression: compileText(messageExpression, options) }),
    ...(reason === undefined ? {} : { reason }),
    ...(fieldPath === undefined ? {} : { fieldPath }),
    ...(optionalOldSelf === undefined ? {} : { optionalOldSelf }),
  };
}

/**
 * A rule for a field of any depth, for `extend`: `Self` is the type of the field.
 *
 * ```ts
 * extend: { 'spec.zone': { 'x-kubernetes-validations': [rule<string>(({ self, oldSelf }) => self.equals(oldSelf))] } }
 * ```
 */
export function rule<Self>(test: (context: RuleContext<Self>) => CelTest, options: RuleOptions<Self> = {}): CelRule {
  refuseUnknownOptions('rule', options, ruleOptionNames);
  return compileRule({ ...(options as Partial<AnyRule>), require: test as AnyRule['require'] }, 'rule');
}
