import type { TypeMeta } from '../../object/meta.js';
import type { Clock } from '../../runtime/time/clock.js';
import type { AnyCondition } from './any-conditions.js';
import type { Relationship } from './relationships.js';
import type { ErrorConditions } from './summary-conditions.js';

/** A summary as far as it goes; '' is no state yet. */
export interface SummaryDraft {
  readonly state: string;
  readonly error: boolean;
  readonly transitioning: boolean;
  readonly message: readonly string[];
  readonly relationships: readonly Relationship[];
}

/** What holds for one call. */
export interface SummaryContext {
  readonly hasObservedGeneration: boolean;
  readonly errorConditions: ErrorConditions;
  readonly clock: Clock;
}

/** Adds what it knows (`summary.Summarizer`). */
export type Summarizer = (
  object: TypeMeta,
  conditions: readonly AnyCondition[],
  draft: SummaryDraft,
  context: SummaryContext,
) => SummaryDraft;

/** The draft with some fields changed, and a message added. */
export function told(
  draft: SummaryDraft,
  change: Partial<Pick<SummaryDraft, 'state' | 'error' | 'transitioning'>>,
  message = '',
): SummaryDraft {
  return { ...draft, ...change, message: message === '' ? draft.message : [...draft.message, message] };
}
