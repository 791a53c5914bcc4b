import type { LabelSelector, TypeMeta } from '../../object/meta.js';
import type { Clock } from '../../runtime/time/clock.js';
import type { AnyCondition } from './conditions-of.js';

/** A relationship between two objects (`summary.Relationship`). */
export interface Relationship {
  readonly kind: string;
  readonly apiVersion: string;
  /** Omitted if {@link selector} selects several. */
  readonly name?: string;
  /** Omitted: the object's own. */
  readonly namespace?: string;
  /**
   * `owner` and `applies`: the owner of the object; `uses`, `creates`, `selects`, `helmresource`: what it refers to.
   */
  readonly type: 'owner' | 'applies' | 'uses' | 'creates' | 'selects' | 'helmresource';
  /** The other object refers to this one. */
  readonly inbound?: boolean;
  readonly controlledBy?: boolean;
  readonly selector?: LabelSelector;
}

/** By kind, as `apps/v1, Kind=Deployment`, and type of condition: the statuses that mean an error. */
export type ErrorConditions = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** A summary in progress; '' means no state yet. */
export interface SummaryDraft {
  readonly state: string;
  readonly error: boolean;
  readonly transitioning: boolean;
  readonly message: readonly string[];
  readonly relationships: readonly Relationship[];
}

/** The context of one call. */
export interface SummaryContext {
  readonly hasObservedGeneration: boolean;
  readonly errorConditions: ErrorConditions;
  readonly clock: Clock;
}

/** Adds its part to the summary (`summary.Summarizer`). */
export type Summarizer = (
  object: TypeMeta,
  conditions: readonly AnyCondition[],
  draft: SummaryDraft,
  context: SummaryContext,
) => SummaryDraft;

/** The draft with some fields changed, and a message added. */
export function amend(
  draft: SummaryDraft,
  change: Partial<Pick<SummaryDraft, 'state' | 'error' | 'transitioning'>>,
  message = '',
): SummaryDraft {
  return { ...draft, ...change, message: message === '' ? draft.message : [...draft.message, message] };
}
