import { listAt, textAt } from './json-path.js';

/** A condition of an object of any kind; what is missing is ''. */
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

/** Those of a list that have a type. */
export function asConditions(list: readonly unknown[]): readonly AnyCondition[] {
  return list.flatMap((condition) => {
    const type = textAt(condition, 'type');
    if (type === undefined) return [];
    const text = (field: string) => textAt(condition, field) ?? '';
    return [{ type, status: text('status'), reason: text('reason'), message: text('message') }];
  });
}
