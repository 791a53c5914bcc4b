import { goPattern } from '../../schema/pattern/go-pattern.js';
import { append } from '../../status/append.js';
import type { Steps } from '../../steps.js';
import { CelError, CompileError, type Complaint } from '../language/cel-error.js';
import { type CelType, formatType } from '../language/cel-type.js';
import { checkExpression, type Scope } from '../language/check-expression.js';
import { type Expression, partsOf } from '../language/expression.js';
import { parseExpression } from '../language/parse-expression.js';
import { Program } from '../language/program.js';
import { isDynamic } from '../language/type-bindings.js';
import { clauseProblem, clausesOf } from '../library/format-text.js';
import { typeValues } from '../library/library.js';
import { parseDuration, parseTimestamp } from '../library/time-text.js';

/** Reads an expression and finds its type, and what is wrong with its constants. Throws a `CompileError`. */
export function* checkedExpression(
  source: string,
  names: Scope,
): Steps<{ readonly expression: Expression; readonly type: CelType }> {
  const expression = yield* parseExpression(source);
  yield;
  const type = yield* checkExpression(expression, names, source);
  yield;
  const complaints: Complaint[] = [];
  findLiteralComplaints(expression, complaints);
  if (complaints.length > 0) throw new CompileError(source, complaints);
  return { expression, type };
}

/** Constants that are malformed regular expressions, durations or times. */
function findLiteralComplaints(expression: Expression, found: Complaint[]): void {
  if (expression.op === 'call') {
    const { name, args } = expression;
    const literal =
      name === 'matches' ? args.at(-1) : name === 'duration' || name === 'timestamp' ? args[0] : undefined;
    if (literal?.op === 'constant' && typeof literal.value === 'string' && !isWellFormed(name, literal.value)) {
      found.push({ at: literal.at, message: `invalid ${name} argument` });
    }
  }
  if (expression.op === 'call' && expression.name === 'format') append(found, formatComplaints(expression));
  for (const part of partsOf(expression)) findLiteralComplaints(part, found);
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
    const [expected, got] = [clauses.length, list.items.length];
    if (got > expected) {
      yield { at, message: `too many arguments supplied to string.format (expected ${expected}, got ${got})` };
    }
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    yield { at, message: error.message };
  }
}

const converting: ReadonlySet<string> = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'int',
  'string',
  'timestamp',
  'uint',
]);

/** The errors of converted constants, which are computed once. */
export function constantProblem(expression: Expression): string | undefined {
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
