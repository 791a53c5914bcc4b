import type { Coverage } from './coverage.js';

/** One value that a condition had, or could have had. */
export interface ConditionBranch {
  readonly value: string;
  readonly reasons: readonly string[];
  readonly isReached: boolean;
}

/** The values of a condition: those that it had, and of True and False the one that it never had. */
export function conditionBranches({ conditions, reasons }: Coverage, name: string): readonly ConditionBranch[] {
  const reached = [...(conditions.get(name) ?? [])].sort(byValue);
  const missing = ['True', 'False'].filter((value) => !reached.includes(value));
  return [
    ...reached.map((value) => ({ value, reasons: [...(reasons.get(`${name}=${value}`) ?? [])], isReached: true })),
    ...missing.map((value) => ({ value, reasons: [], isReached: false })),
  ];
}

function byValue(one: string, other: string): number {
  const order = ['True', 'False', 'Unknown'];
  return order.indexOf(one) - order.indexOf(other);
}
