import type { JsonObject } from 'riata/object';
import type { AdmissionOperation } from '../../admission.js';
import type { Amounts } from './amounts.js';
import type { QuotaScope } from './quota-scope.js';

/** The part of a request that decides whether quotas apply. */
export interface QuotaRequest {
  readonly operation: AdmissionOperation;
  readonly subresource: string;
  readonly object: JsonObject;
  readonly oldObject: JsonObject | undefined;
}

/** Measures the usage of one resource's objects (`quota.Evaluator`). */
export interface QuotaEvaluator {
  /** Whether a name in `spec.hard` of a quota counts these objects (`MatchingResources`). */
  covers(name: string): boolean;
  /** Whether a request may change the usage. */
  handles(request: QuotaRequest): boolean;
  isInScope(object: JsonObject, scope: QuotaScope): boolean;
  usage(object: JsonObject, nowMs: number): Amounts;
  /** The error if an object does not specify an amount that a quota requires (`Constraints`). */
  missing?(names: readonly string[], object: JsonObject): string | undefined;
}
