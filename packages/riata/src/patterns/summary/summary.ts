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

/** A one-line summary of an object of any kind (`summary.Summary`). */
export interface Summary {
  /** One word in lower case: `active`, `in-progress`, `removing`, `error`, or the kind's own word. */
  readonly state: string;
  /** The object has failed. */
  readonly error: boolean;
  /** The object is in progress. */
  readonly transitioning: boolean;
  /** Why, each reason once. */
  readonly message: readonly string[];
  /**
   * {@link error} and {@link transitioning} in the words of kstatus. Never better than what `computeStatus` says, except
   * for objects that settle it themselves.
   */
  readonly status: ObjectState;
  /** Its relationships to other objects. */
  readonly relationships: readonly Relationship[];
}

/** Options of {@link summarize} (`summary.SummarizeOptions`). */
export interface SummarizeOptions {
  /**
   * The kind has `status.observedGeneration`: an object without it is not observed yet (`HasObservedGeneration`).
   * @default false
   */
  readonly hasObservedGeneration?: boolean;
  /**
   * Conditions that mean an error, for kinds such as `apps/v1, Kind=Deployment`: by type, the statuses. Overrides the built-in
   * rules of a condition (`GVKConditionErrorMapping`). @default the built-in rules
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
 * Summarizes the state of an object of any kind (`summary.Summarize`): by `status.summary` or `status.display`, its
 * conditions, its phase, and kstatus' rules; with its relationships to other objects.
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

/** True if the object is neither failed nor in progress (`Summary.IsReady`). */
export function isReadySummary({ error, transitioning }: Pick<Summary, 'error' | 'transitioning'>): boolean {
  return !error && !transitioning;
}

/** A summary as one line: the state, or the error or progress with its reasons (`Summary.String`). */
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

/** A condition, and whether it means an error or progress. */
export interface NormalizedCondition {
  readonly type: string;
  readonly status: string;
  readonly error: boolean;
  readonly transitioning: boolean;
}

/** The conditions of an object with their meaning (`summary.NormalizeConditions`). */
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
