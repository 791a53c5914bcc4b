import type { TypeMeta } from '../../object/meta.js';
import { textAt } from '../../object/value/value-at.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { Clock } from '../../runtime/time/clock.js';
import { systemClock } from '../../runtime/time/system-clock.js';
import type { ObjectState } from '../status/status-rules.js';
import { checkErrors } from './check-errors.js';
import { checkGenericTransitioning } from './check-generic-transitioning.js';
import { allConditionsOf } from './conditions-of.js';
import { summarizers } from './summarizers.js';
import type { ErrorConditions, Relationship, SummaryDraft } from './summary-draft.js';

/** What can be said of an object of any kind in a line (`summary.Summary`). */
export interface Summary {
  /** One word in lower case: `active`, `in-progress`, `removing`, `error`, or what the kind itself calls it. */
  readonly state: string;
  /** Something is wrong. */
  readonly error: boolean;
  /** It is on its way to somewhere. */
  readonly transitioning: boolean;
  /** Why, each reason once. */
  readonly message: readonly string[];
  /**
   * {@link error} and {@link transitioning} in the words of kstatus. Never better than what `computeStatus` says, except
   * for objects that settle it themselves.
   */
  readonly status: ObjectState;
  /** What it has to do with other objects. */
  readonly relationships: readonly Relationship[];
}

/** How {@link summarize} judges (`summary.SummarizeOptions`). */
export interface SummarizeOptions {
  /**
   * The kind is known to keep `status.observedGeneration`: without one, nobody has looked at the object
   * (`HasObservedGeneration`). @default false
   */
  readonly hasObservedGeneration?: boolean;
  /**
   * Which conditions mean an error, for kinds such as `apps/v1, Kind=Deployment`: by type, with which status. What is
   * said of a condition counts instead of what is known of it (`GVKConditionErrorMapping`). @default what is known
   */
  readonly errorConditions?: ErrorConditions;
  /** @default systemClock */
  readonly clock?: Clock;
}

export const summarizeOptionNames = optionNames<SummarizeOptions>({
  hasObservedGeneration: true,
  errorConditions: true,
  clock: true,
});

/**
 * Says how an object of any kind is (`summary.Summarize`): by what its kind has to say in `status.summary` or
 * `status.display`, its conditions, its phase, and kstatus' rules; and what it has to do with others.
 *
 * @example
 * const { state, message } = summarize(deployment); // 'in-progress', ['1 of 3 replicas are available']
 */
export function summarize(object: TypeMeta, options: SummarizeOptions = {}): Summary {
  refuseUnknownOptions('summarize', options, summarizeOptionNames);
  const { hasObservedGeneration = false, errorConditions = {}, clock = systemClock } = options;
  const conditions = allConditionsOf(object);
  const context = { hasObservedGeneration, errorConditions, clock };
  let draft: SummaryDraft = { state: '', error: false, transitioning: false, message: [], relationships: [] };
  for (const summarizer of summarizers) draft = summarizer(object, conditions, draft, context);
  const message = [...new Set(draft.message.map((text) => text.trim()))].filter((text) => text !== '');
  const state = (draft.state || 'active').toLowerCase();
  return { ...draft, state, message, status: statusOf(object, draft) };
}

function statusOf(object: TypeMeta, { error, transitioning }: SummaryDraft): ObjectState {
  if (textAt(object, 'metadata', 'deletionTimestamp') !== undefined) return 'Terminating';
  if (error) return 'Failed';
  return transitioning ? 'InProgress' : 'Current';
}

/** True if nothing is wrong, and nothing is to be waited for (`Summary.IsReady`). */
export function isReadySummary({ error, transitioning }: Pick<Summary, 'error' | 'transitioning'>): boolean {
  return !error && !transitioning;
}

/** A summary in a line: the state, or what is wrong or under way with its reasons (`Summary.String`). */
export function formatSummary({
  state,
  error,
  transitioning,
  message,
}: Omit<Summary, 'relationships' | 'status'>): string {
  if (!error && !transitioning) return state;
  const words = [transitioning ? 'progressing' : undefined, error ? 'error' : undefined].filter(Boolean).join(',');
  return message.length === 0 ? `[${words}]` : `[${words}] ${message.join(', ')}`;
}

/** One condition, and whether it means that something is wrong or under way. */
export interface NormalizedCondition {
  readonly type: string;
  readonly status: string;
  readonly error: boolean;
  readonly transitioning: boolean;
}

/** What each condition of an object means by itself (`summary.NormalizeConditions`). */
export function normalizeConditions(object: TypeMeta, options: SummarizeOptions = {}): readonly NormalizedCondition[] {
  refuseUnknownOptions('normalizeConditions', options, summarizeOptionNames);
  const { errorConditions = {}, clock = systemClock } = options;
  const context = { hasObservedGeneration: false, errorConditions, clock };
  const none: SummaryDraft = { state: '', error: false, transitioning: false, message: [], relationships: [] };
  return allConditionsOf(object).map((condition) => {
    const draft = checkErrors(object, [condition], none, context);
    const { error, transitioning } = checkGenericTransitioning(object, [condition], draft, context);
    return { ...condition, error, transitioning };
  });
}
