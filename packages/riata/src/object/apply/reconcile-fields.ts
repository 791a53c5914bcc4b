import { type FieldSet, FieldSetBuilder } from './fields/field-set.js';
import { fieldName, type PathElement } from './fields/path-element.js';
import { isDeducedMap, type MergeType, typeOfField } from './typed/merge-type.js';

/**
 * Adapts a set written under an earlier schema to the present one (`ReconcileFieldSetWithSchema`): an owner of parts of
 * a value that is atomic now owns the whole value. A value that has become granular is left as it is.
 */
export function reconcileFields(set: FieldSet, type: MergeType): FieldSet {
  const atomic = new FieldSetBuilder();
  visit(set, false, type, [], atomic);
  const changed = atomic.build();
  return changed.isEmpty ? set : set.recursiveDifference(changed).union(changed);
}

/** `whole`: the place is owned as one, with nothing below it. */
function visit(
  set: FieldSet | undefined,
  whole: boolean,
  type: MergeType,
  path: PathElement[],
  atomic: FieldSetBuilder,
): void {
  if (type.map !== undefined) {
    if (isDeducedMap(type.map)) return;
    if (!whole && type.map.atomic) {
      if (set !== undefined && !set.isEmpty) atomic.add(path);
      return;
    }
  } else if (type.scalar !== undefined) {
    return;
  } else if (!whole && type.list?.kind === 'atomic') {
    atomic.add(path);
    return;
  }
  for (const element of set?.elements() ?? []) {
    const inner = type.map === undefined ? type.list?.items() : typeBelow(type.map, element);
    if (inner === undefined) continue;
    const below = set?.below(element);
    path.push(element);
    visit(below, below === undefined, inner, path, atomic);
    path.pop();
  }
}

function typeBelow(map: NonNullable<MergeType['map']>, element: PathElement): MergeType | undefined {
  const name = fieldName(element);
  return name === undefined ? map.values() : typeOfField(map, name);
}
