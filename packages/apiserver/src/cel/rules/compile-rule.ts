import type { StructuralSchema } from 'riata/object';
import { goPattern } from '../../schema/pattern/go-pattern.js';
import { CelError, CompileError, type Complaint } from '../language/cel-error.js';
import { type CelType, formatType, optionalOf } from '../language/cel-type.js';
import { checkExpression } from '../language/check-expression.js';
import { estimateCost } from '../language/estimate-cost.js';
import { Program } from '../language/evaluate.js';
import { type Expression, partsOf } from '../language/expression.js';
import { parseExpression } from '../language/parse-expression.js';
import { isDynamic } from '../language/type-bindings.js';
import { clauseProblem, clausesOf } from '../library/format-text.js';
import { library, typeNames, typeValues } from '../library/library.js';
import { parseDuration, parseTimestamp } from '../library/time-text.js';
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
    const expression = parseExpression(source);
    const type = checkExpression(expression, { variables, functions: library }, source);
    const complaints = [...literalComplaints(expression)];
    if (complaints.length > 0) throw new CompileError(source, complaints);
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

/** Constants that are no regular expressions, durations or times, where such are wanted. */
function* literalComplaints(expression: Expression): Iterable<Complaint> {
  if (expression.op === 'call') {
    const { name, args } = expression;
    const literal =
      name === 'matches' ? args.at(-1) : name === 'duration' || name === 'timestamp' ? args[0] : undefined;
    if (literal?.op === 'constant' && typeof literal.value === 'string' && !isWellFormed(name, literal.value)) {
      yield { at: literal.at, message: `invalid ${name} argument` };
    }
  }
  if (expression.op === 'call' && expression.name === 'format') yield* formatComplaints(expression);
  for (const part of partsOf(expression)) yield* literalComplaints(part);
}

/** Arguments that a constant template has no use for, or whose types do not fit. */
function* formatComplaints({ at, target, args: [list] }: Extract<Expression, { op: 'call' }>): Iterable<Complaint> {
  if (target?.op !== 'constant' || typeof target.value !== 'string' || list?.op !== 'list') return;
  try {
    const clauses = clausesOf(target.value).filter((clause) => 'verb' in clause);
    for (const [index, { verb }] of clauses.entries()) {
      const item = list.items[index];
      if (item === undefined) throw new CelError(`index ${index} out of range`);
      const problem = item.type && !isDynamic(item.type) ? clauseProblem(verb, formatType(item.type)) : undefined;
      if (problem !== undefined) {
        yield { at: item.at, message: problem };
        return;
      }
    }
    const [wanted, got] = [clauses.length, list.items.length];
    if (got > wanted) {
      yield { at, message: `too many arguments supplied to string.format (expected ${wanted}, got ${got})` };
    }
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    yield { at, message: error.message };
  }
}

const converting = new Set(['bool', 'bytes', 'double', 'duration', 'int', 'string', 'timestamp', 'uint']);

/** What goes wrong with conversions of constants, which are done once and for all. */
function constantProblem(expression: Expression): string | undefined {
  if (expression.op === 'call' && converting.has(expression.name) && expression.args[0]?.op === 'constant') {
    const outcome = new Program(expression, typeValues).run(new Map(), Number.POSITIVE_INFINITY);
    if ('error' in outcome) return outcome.error.message;
  }
  for (const part of partsOf(expression)) {
    const problem = constantProblem(part);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isWellFormed(name: string, text: string): boolean {
  if (name === 'matches') return goPattern(text) !== undefined;
  try {
    if (name === 'duration') parseDuration(text);
    else parseTimestamp(text);
    return true;
  } catch {
    return false;
  }
}

function names(expression: Expression, name: string): boolean {
  if (expression.op === 'name') return expression.name === name;
  return partsOf(expression).some((part) => names(part, name));
}
