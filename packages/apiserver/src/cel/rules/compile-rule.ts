import type { StructuralSchema } from 'riata/object';
import type { Steps } from '../../steps.js';
import { CompileError } from '../language/cel-error.js';
import { type CelType, optionalOf } from '../language/cel-type.js';
import { estimateCost } from '../language/estimate-cost.js';
import { type Expression, partsOf } from '../language/expression.js';
import { Program } from '../language/program.js';
import { library, typeNames, typeValues } from '../library/library.js';
import { checkedExpression, constantProblem } from './checked-expression.js';
import { type DeclaredType, sizeAt } from './declared-type.js';

/** A rule as it stands in a schema. */
export type Rule = NonNullable<StructuralSchema['x-kubernetes-validations']>[number];

/** An expression that can be computed. */
export interface Compiled {
  readonly program: Program;
  readonly usesOldSelf: boolean;
}

/** The maximum cost of an expression. */
export interface Costed {
  readonly maxCost: number;
  readonly usesOldSelf: boolean;
}

/** A rule and what was made of its expressions. */
export interface RuleParts<T> {
  readonly rule: Rule;
  /** The problem of it instead. */
  readonly condition: T | { readonly problem: string };
  readonly message: T | { readonly problem: string } | undefined;
}

export type CompiledRule = RuleParts<Compiled>;

/** Compiles a rule for values of a type. */
export function compileRule(rule: Rule, self: DeclaredType): Steps<CompiledRule> {
  return partsOfRule(rule, self, (expression, usesOldSelf) => ({
    program: new Program(expression, typeValues),
    usesOldSelf,
  }));
}

/**
 * The cost of a rule for values of a type. It is not made ready to run: a definition is checked long before any object.
 */
export function costOfRule(rule: Rule, self: DeclaredType): Steps<RuleParts<Costed>> {
  return partsOfRule(rule, self, (expression, usesOldSelf) => ({
    maxCost: estimateCost(expression, (path) => sizeAt(self, path)).max,
    usesOldSelf,
  }));
}

type Make<T> = (expression: Expression, usesOldSelf: boolean) => T;

function* partsOfRule<T>(rule: Rule, self: DeclaredType, make: Make<T>): Steps<RuleParts<T>> {
  const oldSelf = rule.optionalOldSelf === true ? optionalOf(self.type) : self.type;
  const condition = yield* attempt(rule.rule, self, oldSelf, 'bool', make);
  const { messageExpression = '' } = rule;
  const message =
    messageExpression === '' || isProblem(condition)
      ? undefined
      : yield* attempt(messageExpression, self, oldSelf, 'string', make);
  return { rule, condition, message };
}

function isProblem(found: unknown): found is { readonly problem: string } {
  return typeof found === 'object' && found !== null && 'problem' in found;
}

const words = {
  bool: {
    compilation: 'compilation failed: ',
    instantiation: 'program instantiation failed: ',
    wrongType: 'cel expression must evaluate to a bool',
  },
  string: {
    compilation: 'messageExpression compilation failed: ',
    instantiation: 'messageExpression instantiation failed: ',
    wrongType: 'messageExpression must evaluate to a string',
  },
};

function* attempt<T>(
  source: string,
  self: DeclaredType,
  oldSelf: CelType,
  expected: 'bool' | 'string',
  make: Make<T>,
): Steps<T | { readonly problem: string }> {
  try {
    const variables = new Map([...typeNames, ['self', self.type] as const, ['oldSelf', oldSelf] as const]);
    const { expression, type } = yield* checkedExpression(source, { variables, functions: library });
    if (type.kind !== expected) return { problem: words[expected].wrongType };
    const hopeless = constantProblem(expression);
    if (hopeless !== undefined) return { problem: words[expected].instantiation + hopeless };
    yield;
    return make(expression, names(expression, 'oldSelf'));
  } catch (error) {
    if (error instanceof CompileError) return { problem: words[expected].compilation + error.message };
    throw error;
  }
}

function names(expression: Expression, name: string): boolean {
  if (expression.op === 'name') return expression.name === name;
  return partsOf(expression).some((part) => names(part, name));
}
