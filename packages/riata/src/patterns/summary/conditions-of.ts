import { listAt, textAt } from '../../object/value/value-at.js';

/** A condition of an object of any kind; missing fields are ''. */
export interface AnyCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** The conditions that stand in an object's status, whatever its kind makes of them. */
export function conditionsOf(object: unknown): readonly AnyCondition[] {
  return asConditions(listAt(object, 'status', 'conditions'));
}

/** As {@link conditionsOf}, and those of the annotation `cattle.io/status`, for kinds that have no place for any. */
export function allConditionsOf(object: unknown): readonly AnyCondition[] {
  const annotation = textAt(object, 'metadata', 'annotations', 'cattle.io/status');
  if (annotation === undefined) return conditionsOf(object);
  try {
    return [...conditionsOf(object), ...asConditions(listAt(JSON.parse(annotation), 'conditions'))];
  } catch {
    // Whatever it says, it is not for us.
    return conditionsOf(object);
  }
}

/** Those of a list that have a type. */
function asConditions(list: readonly unknown[]): readonly AnyCondition[] {
  return list.flatMap((condition) => {
    const type = textAt(condition, 'type');
    if (type === undefined) return [];
    const text = (field: string) => textAt(condition, field) ?? '';
    return [{ type, status: text('status'), reason: text('reason'), message: text('message') }];
  });
}
