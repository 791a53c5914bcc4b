import type { JsonObject } from 'riata/object';
import type { AdmissionOperation } from '../../admission.js';
import type { Amounts } from './amounts.js';
import type { QuotaScope } from './quota-scope.js';

/** The part of a request that decides whether quotas are concerned. */
export interface QuotaRequest {
  readonly operation: AdmissionOperation;
  readonly subresource: string;
  readonly object: JsonObject;
  readonly oldObject: JsonObject | undefined;
}

/** Measures how much the objects of one resource use of what quotas limit (`quota.Evaluator`). */
export interface QuotaEvaluator {
  /** Whether a name in `spec.hard` of a quota counts these objects (`MatchingResources`). */
  covers(name: string): boolean;
  /** Whether a request may change the usage. */
  handles(request: QuotaRequest): boolean;
  isInScope(object: JsonObject, scope: QuotaScope): boolean;
  usage(object: JsonObject, nowMs: number): Amounts;
  /** What an object has to specify because a quota limits these names (`Constraints`); undefined if it does. */
  missing?(names: readonly string[], object: JsonObject): string | undefined;
}
