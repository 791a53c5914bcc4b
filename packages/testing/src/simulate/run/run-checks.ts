import { describeError } from 'riata/runtime';
import type { Check } from '../simulate-options.js';

/** What checks of a test say against a run; empty if all hold. */
export function failedChecks<C>(checks: readonly Check<C>[], context: C): readonly string[] {
  return checks.flatMap((check) => {
    let said: unknown;
    try {
      said = check(context);
    } catch (error) {
      said = describeError(error);
    }
    if (said !== false && (typeof said !== 'string' || said === '')) return [];
    return [typeof said === 'string' ? said : `${check.name || 'a check'} does not hold`];
  });
}
