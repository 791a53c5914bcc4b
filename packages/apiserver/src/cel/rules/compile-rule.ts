import type { StructuralSchema } from 'riata/object';
import { CompileError } from '../language/cel-error.js';
import { type CelType, optionalOf } from '../language/cel-type.js';
import { estimateCost } from '../language/estimate-cost.js';
import { Program } from '../language/evaluate.js';
import { type Expression, partsOf } from '../language/expression.js';
import { library, typeNames, typeValues } from '../library/library.js';
import { checkedExpression, constantProblem } from './checked-expression.js';
import { type DeclaredType, sizeAt } from './declared-type.js';

/** A rule as it stands in a schema. */
export type Rule = NonNullable<StructuralSchema['x-kubernetes-validations']>[number];

/** An expression that can be computed, and what it costs at most. */
export interface Compiled {
  readonly program: Program;
  readonly maxCost: number;
  readonly usesOldSelf: boolean;
}

export interface CompiledRule {
  readonly rule: Rule;
  /** What is wrong with it instead. */
  readonly condition: Compiled | { readonly problem: string };
  readonly message: Compiled | { readonly problem: string } | undefined;
}

/** Compiles a rule for values of a type. */
export function compileRule(rule: Rule, self: DeclaredType): CompiledRule {
  const oldSelf = rule.optionalOldSelf === true ? optionalOf(self.type) : self.type;
  const condition = attempt(rule.rule, self, oldSelf, 'bool');
  const { messageExpression = '' } = rule;
  const message =
    messageExpression === '' || 'problem' in condition
      ? undefined
      : attempt(messageExpression, self, oldSelf, 'string');
  return { rule, condition, message };
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

function attempt(
  source: string,
  self: DeclaredType,
  oldSelf: CelType,
  wanted: 'bool' | 'string',
): Compiled | { readonly problem: string } {
  try {
    const variables = new Map([...typeNames, ['self', self.type] as const, ['oldSelf', oldSelf] as const]);
    const { expression, type } = checkedExpression(source, { variables, functions: library });
    if (type.kind !== wanted) return { problem: words[wanted].wrongType };
    const hopeless = constantProblem(expression);
    if (hopeless !== undefined) return { problem: words[wanted].instantiation + hopeless };
    return {
      program: new Program(expression, typeValues),
      maxCost: estimateCost(expression, (path) => sizeAt(self, path)).max,
      usesOldSelf: names(expression, 'oldSelf'),
    };
  } catch (error) {
    if (error instanceof CompileError) return { problem: words[wanted].compilation + error.message };
    throw error;
  }
}

function names(expression: Expression, name: string): boolean {
  if (expression.op === 'name') return expression.name === name;
  return partsOf(expression).some((part) => names(part, name));
}
