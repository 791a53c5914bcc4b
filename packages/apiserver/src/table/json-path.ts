import { isJsonObject, type Json } from 'riata/object';

/** A step of a path: from each value to those below it. */
export type Step =
  | { readonly is: 'field'; readonly name: string }
  | { readonly is: 'slice'; readonly from?: number; readonly to?: number; readonly step?: number }
  | { readonly is: 'index'; readonly at: number }
  | { readonly is: 'all' }
  | { readonly is: 'descend' }
  | { readonly is: 'union'; readonly parts: readonly (readonly Step[])[] }
  | { readonly is: 'filter'; readonly filter: Filter };

/** Thrown for a path that cannot be read, and for a value that a step does not fit. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError';
}

/**
 * Reads a path as kubectl and printer columns have it, e.g. `.spec.ports[0].port`, `.metadata.labels['a.b']`,
 * `.status.conditions[?(@.type=="Ready")].status`, `..name`. Throws a {@link JsonPathError}.
 */
export function parseJsonPath(text: string): readonly Step[] {
  const steps: Step[] = [];
  let at = text.startsWith('$') || text.startsWith('@') ? 1 : 0;
  while (at < text.length) {
    if (text.startsWith('..', at)) {
      steps.push({ is: 'descend' });
      // A name may follow without a point of its own.
      at += /[.[]/.test(text[at + 2] ?? '.') ? 2 : 1;
    } else if (text[at] === '.') {
      const name = fieldName.exec(text.slice(at + 1))?.[0] ?? '';
      steps.push(name === '*' ? { is: 'all' } : { is: 'field', name: name.replace(/\\(.)/g, '$1') });
      at += 1 + name.length;
    } else if (text[at] === '[') {
      const end = closingBracket(text, at);
      steps.push(parseBracket(text.slice(at + 1, end)));
      at = end + 1;
    } else throw new JsonPathError(`${text}: a "." or "[" is expected at ${at}`);
  }
  return steps;
}

/** The values at a path; none where something on the way is missing. Throws a {@link JsonPathError}. */
export function evaluateJsonPath(steps: readonly Step[], value: Json): readonly Json[] {
  return steps.reduce<readonly Json[]>((values, step) => take(step, values), [value]);
}

const fieldName = /^(?:\\.|[^\s.,[\]$@{}\\])*/;

function closingBracket(text: string, open: number): number {
  let quote = '';
  let depth = 0;
  for (let at = open; at < text.length; at++) {
    const char = text[at] as string;
    if (quote !== '') {
      if (char === '\\') at++;
      else if (char === quote) quote = '';
    } else if (char === "'" || char === '"') quote = char;
    else if (char === '[') depth++;
    else if (char === ']' && --depth === 0) return at;
  }
  throw new JsonPathError(`${text}: the bracket at ${open} is not closed`);
}

function parseBracket(inside: string): Step {
  if (inside === '*') return { is: 'all' };
  if (inside.startsWith('?(') && inside.endsWith(')')) {
    return { is: 'filter', filter: parseFilter(inside.slice(2, -1)) };
  }
  const quoted = /^(['"])((?:\\.|(?!\1).)*)\1$/.exec(inside);
  if (quoted) return { is: 'field', name: (quoted[2] as string).replace(/\\(.)/g, '$1') };
  if (inside.includes(',')) {
    return { is: 'union', parts: inside.split(',').map((part) => [parseBracket(part.trim())]) };
  }
  const numbers = /^(-?\d*)(?::(-?\d*))?(?::(-?\d*))?$/.exec(inside);
  if (numbers === null || inside === '') throw new JsonPathError(`invalid array index ${inside}`);
  const [from, to, step] = numbers.slice(1).map((n) => (n === undefined || n === '' ? undefined : Number(n)));
  return inside.includes(':') ? { is: 'slice', from, to, step } : { is: 'index', at: from as number };
}

function take(step: Step, values: readonly Json[]): readonly Json[] {
  const there = values.filter((value) => value !== null);
  switch (step.is) {
    case 'field':
      if (step.name === '') return there;
      return there.flatMap((v) => (isJsonObject(v) && Object.hasOwn(v, step.name) ? [v[step.name] as Json] : []));
    case 'all':
      return there.flatMap(below);
    case 'descend':
      return there.flatMap(descend);
    case 'index':
      return there.map((value) => elementAt(listOf(value), step.at));
    case 'slice':
      return there.flatMap((value) => slice(listOf(value), step));
    case 'union':
      return step.parts.flatMap((part) => evaluateUnion(part, there));
    default:
      return there.flatMap((value) => listOf(value).filter((item) => evaluateFilter(step.filter, item)));
  }
}

function evaluateUnion(part: readonly Step[], values: readonly Json[]): readonly Json[] {
  return values.flatMap((value) => evaluateJsonPath(part, value));
}

function below(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? (Object.values(value) as Json[]) : [];
}

/** The value and all below it, as long as there is something in them. */
function descend(value: Json): readonly Json[] {
  const inside = below(value);
  return inside.length === 0 ? [] : [value, ...inside.flatMap(descend)];
}

function listOf(value: Json): readonly Json[] {
  if (!Array.isArray(value)) throw new JsonPathError('what an index or a filter is for is no list');
  return value;
}

function elementAt(list: readonly Json[], at: number): Json {
  const found = list.at(at);
  if (found === undefined) throw new JsonPathError(`array index out of bounds: index ${at}, length ${list.length}`);
  return found;
}

function slice(list: readonly Json[], { from = 0, to = list.length, step = 1 }: Extract<Step, { is: 'slice' }>) {
  if (step <= 0) throw new JsonPathError('step must be > 0');
  return list.slice(from, to).filter((_, index) => index % step === 0);
}

/** Something to compare: a path from the element, or a value. */
type Side = { readonly path: readonly Step[] } | { readonly value: Json };

/** A question to each element of a list: `@.type=="Ready"`, or `@.name` for whether it is there. */
interface Filter {
  readonly left: Side;
  readonly operator: string;
  /** Undefined for a check whether the left side exists. */
  readonly right: Side | undefined;
}

/** Reads what stands in `[?(…)]`. */
function parseFilter(text: string): Filter {
  const found = /^([^!<>=]+)(==|!=|<=|>=|<|>)(.+)$/.exec(text);
  if (found === null) return { left: parseSide(text), operator: 'exists', right: undefined };
  const [, left = '', operator = '', right = ''] = found;
  return { left: parseSide(left), operator, right: parseSide(right) };
}

/** Whether an element passes. */
function evaluateFilter({ left, operator, right }: Filter, element: Json): boolean {
  const lefts = valuesOf(left, element);
  if (right === undefined) return lefts.length > 0;
  const rights = valuesOf(right, element);
  if (lefts.length === 0 || rights.length === 0) return false;
  if (lefts.length > 1 || rights.length > 1) throw new JsonPathError('can only compare one element at a time');
  return compare(operator, lefts[0] as Json, rights[0] as Json);
}

function parseSide(text: string): Side {
  const trimmed = text.trim();
  const quoted = /^(['"])((?:\\.|(?!\1).)*)\1$/.exec(trimmed);
  if (quoted) return { value: (quoted[2] as string).replace(/\\(.)/g, '$1') };
  if (/^-?\d+(?:\.\d+)?$/.test(trimmed)) return { value: Number(trimmed) };
  if (trimmed === 'true' || trimmed === 'false') return { value: trimmed === 'true' };
  return { path: parseJsonPath(trimmed) };
}

function valuesOf(side: Side, element: Json): readonly Json[] {
  return 'value' in side ? [side.value] : evaluateJsonPath(side.path, element);
}

function compare(operator: string, left: Json, right: Json): boolean {
  const isPlain = typeof left === 'string' || typeof left === 'number' || typeof left === 'boolean';
  if (!isPlain || typeof left !== typeof right) throw new JsonPathError('incompatible types for comparison');
  if (operator === '==') return left === right;
  if (operator === '!=') return left !== right;
  if (typeof left === 'boolean') throw new JsonPathError('invalid type for comparison');
  const [a, b] = [left, right as string | number];
  if (operator === '<') return a < b;
  if (operator === '>') return a > b;
  return operator === '<=' ? a <= b : a >= b;
}
