import { FieldSet } from './field-set.js';
import { fieldElement, type PathElement } from './path-element.js';

/** Leaves out the fields that a write does not reach (`fieldpath.Filter`), e.g. those of `status`. */
export type FieldFilter = (fields: FieldSet) => FieldSet;

/** Leaves out these fields and all below them: `excludeFields(['status'])`, `excludeFields(['metadata', 'name'])`. */
export function excludeFields(...paths: readonly (readonly string[])[]): FieldFilter {
  const excluded = FieldSet.of(...paths.map((path) => path.map(fieldElement)));
  return (fields) => fields.recursiveDifference(excluded);
}

/** Matches any element in `includeFields`. */
export const anyElement: unique symbol = Symbol('any element');

/**
 * Keeps only what lies on or below one of these paths, where strings are field names:
 * `includeFields(['spec', 'containers', anyElement, 'resources'])`.
 */
export function includeFields(...paths: readonly (readonly (string | typeof anyElement)[])[]): FieldFilter {
  const patterns = paths.map((path) => path.map((part) => (typeof part === 'string' ? fieldElement(part) : part)));
  return (fields) => keep(fields, patterns);
}

type Pattern = readonly (PathElement | typeof anyElement)[];

function keep(fields: FieldSet, patterns: readonly Pattern[]): FieldSet {
  // A pattern that has come to its end takes everything from here on.
  if (patterns.some((pattern) => pattern.length === 0)) return fields;
  const level: [PathElement, boolean, FieldSet | undefined][] = [];
  for (const element of fields.elements()) {
    const matching = patterns.filter(([first]) => first === anyElement || first === element);
    if (matching.length === 0) continue;
    const below = fields.below(element);
    const rest = matching.map((pattern) => pattern.slice(1));
    level.push([element, fields.isMember(element), below && keep(below, rest)]);
  }
  return FieldSet.level(level);
}
