import { goPlain, goSyntax, goType } from '../../go-text.js';
import { isJsonObject, type Json } from '../../json.js';
import { ApplyError } from '../apply-error.js';
import { fieldElement, formatElement, indexElement, type PathElement } from '../fields/path-element.js';
import { isItemProblem, itemElement } from './list-items.js';
import {
  type ListType,
  listForm,
  type MapType,
  type MergeType,
  mapForm,
  narrow,
  type ScalarType,
  scalarForm,
} from './merge-type.js';

/** How deep objects and field sets may be nested: far beyond any real one, and safe for recursion. */
export const maxDepth = 1000;

/** One way in which a value is not of its type. */
export interface TypeProblem {
  /** Where, e.g. `.spec.ports[port=80]`; empty for the value as a whole. */
  readonly path: string;
  readonly message: string;
}

/** The problems as one message, as upstream prints them. */
export function formatProblems(problems: readonly TypeProblem[]): string {
  const lines = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  return lines.length === 1 ? lines[0]! : ['errors:', ...lines.map((line) => `  ${line}`)].join('\n');
}

/**
 * The problems of a value (`TypedValue.Validate`): undeclared fields, wrong scalars, list items without identity, and,
 * unless `allowDuplicates`, duplicate items. Throws an `ApplyError` for one that is nested deeper than 1,000 levels.
 */
export function validateTyped(
  value: Json,
  type: MergeType,
  { allowDuplicates = false }: { readonly allowDuplicates?: boolean } = {},
): readonly TypeProblem[] {
  const problems: TypeProblem[] = [];
  new Validator(problems, allowDuplicates).check(value, type);
  return problems;
}

class Validator {
  readonly #problems: TypeProblem[];
  readonly #allowDuplicates: boolean;
  readonly #path: PathElement[] = [];

  constructor(problems: TypeProblem[], allowDuplicates: boolean) {
    this.#problems = problems;
    this.#allowDuplicates = allowDuplicates;
  }

  check(value: Json, type: MergeType): void {
    if (this.#path.length > maxDepth) {
      throw new ApplyError(400, `the object is nested too deep: expected at most ${maxDepth} levels, found more`);
    }
    const forms = narrow(type, value);
    if (forms & mapForm) this.#checkMap(value, type.map!);
    else if (forms & scalarForm) this.#add(scalarProblem(type.scalar!, value));
    else if (forms & listForm) this.#checkList(value, type.list!);
    else this.#add('schema error: invalid atom: inlined');
  }

  #checkMap(value: Json, map: MapType): void {
    if (value === null) return;
    if (!isJsonObject(value)) {
      this.#add(`expected map, got &{${goPlain(value)}}`);
      return;
    }
    for (const name of Object.keys(value)) {
      const child = value[name];
      if (child === undefined) continue;
      const type = map.field(name)?.type ?? map.values();
      this.#path.push(fieldElement(name));
      if (type === undefined) this.#add('field not declared in schema');
      else this.check(child, type);
      this.#path.pop();
      // Upstream looks no further in this map.
      if (type === undefined) return;
    }
  }

  #checkList(value: Json, list: ListType): void {
    if (value === null) return;
    if (!Array.isArray(value)) {
      this.#add(`expected list, got &{${goPlain(value)}}`);
      return;
    }
    const seen = new Set<PathElement>();
    for (const [index, item] of (value as readonly Json[]).entries()) {
      const element = list.kind === 'atomic' ? indexElement(index) : itemElement(list, item);
      if (isItemProblem(element)) {
        this.#add(`element ${index}: ${element.problem}`);
        return;
      }
      if (seen.has(element) && !this.#allowDuplicates) {
        this.#add(`duplicate entries for key ${formatElement(element)}`);
      }
      seen.add(element);
      this.#path.push(element);
      this.check(item, list.items());
      this.#path.pop();
    }
  }

  #add(message: string | undefined): void {
    if (message !== undefined) this.#problems.push({ path: this.#path.map(formatElement).join(''), message });
  }
}

/** Why the value is no such scalar; undefined if it is one or null. */
export function scalarProblem(scalar: ScalarType, value: Json): string | undefined {
  if (value === null) return undefined;
  switch (scalar) {
    case 'numeric':
      // The API server has bigints for integers past 2^53.
      if (typeof value === 'number' || typeof value === 'bigint') return undefined;
      return `expected numeric (int or float), got ${goType(value)}`;
    case 'string':
      if (typeof value === 'string') return undefined;
      return `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got &{${goPlain(value)}}`;
    default:
      return typeof value === 'object' ? `expected any scalar, got &{${goPlain(value)}}` : undefined;
  }
}
