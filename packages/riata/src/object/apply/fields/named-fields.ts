import { type MergeType, typeOfField } from '../typed/merge-type.js';
import { FieldSet } from './field-set.js';
import { fieldName, type PathElement } from './path-element.js';

/**
 * The set with every declared field that is above a member as a member too (`EnsureNamedFieldsAreMembers`): with
 * `.spec.replicas` also `.spec`, which an applier never owns by itself. Keys of maps and items of lists stay as they are.
 */
export function withNamedFields(set: FieldSet, type: MergeType | undefined): FieldSet {
  const level: [PathElement, boolean, FieldSet | undefined][] = [];
  for (const element of set.elements()) {
    const below = set.below(element);
    let member = set.isMember(element);
    if (below === undefined) {
      level.push([element, member, undefined]);
      continue;
    }
    const name = fieldName(element);
    let inner: MergeType | undefined;
    if (name === undefined) {
      inner = element.startsWith('k:') ? type?.list?.items() : undefined;
    } else if (type?.map !== undefined) {
      member ||= type.map.field(name) !== undefined;
      inner = typeOfField(type.map, name);
    }
    level.push([element, member, withNamedFields(below, inner)]);
  }
  return FieldSet.level(level);
}
