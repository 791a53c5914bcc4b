import type { JsonObject } from 'riata/object';
import { metaOf, recordOf, textOf } from '../../../resource/metadata.js';
import { type Amounts, addTo, amountsOf, increase, masked, printAmounts, printNames } from './amounts.js';
import type { QuotaEvaluator, QuotaRequest } from './quota-evaluator.js';
import { scopesOf } from './quota-scope.js';

/** A quota with its usage after a request. */
export interface ChargedQuota {
  readonly quota: JsonObject;
  readonly used: Amounts;
}

/** The verdict on a request: why it is refused, or the quotas whose usage it changes. */
export type QuotaDecision = { readonly refusal: string } | { readonly charged: readonly ChargedQuota[] };

const nothing: QuotaDecision = { charged: [] };

/** Compares a request with the quotas of its namespace (`resourcequota.CheckRequest`). */
export function chargeQuotas(
  quotas: readonly JsonObject[],
  request: QuotaRequest,
  evaluator: QuotaEvaluator,
  nowMs: number,
): QuotaDecision {
  const { object, oldObject, operation, subresource } = request;
  const concerned = quotas.filter((quota) => counts(quota, object, evaluator));
  for (const quota of concerned) {
    const { hard, used } = recordOf(quota.status);
    const name = textOf(metaOf(quota).name);
    const names = Object.keys(recordOf(hard)).filter((one) => evaluator.covers(one));
    const missing = evaluator.missing?.(names, object);
    if (missing !== undefined) return { refusal: `failed quota: ${name}: ${missing}` };
    if (names.some((one) => recordOf(used)[one] === undefined)) {
      return { refusal: `status unknown for quota: ${name}, resources: ${printNames(names)}` };
    }
  }
  if (concerned.length === 0) return nothing;
  const usage = evaluator.usage(object, nowMs);
  const negative = [...usage].filter(([, amount]) => amount.sign() < 0).map(([name]) => name);
  if (negative.length > 0) return { refusal: `quota usage is negative for resource(s): ${printNames(negative)}` };
  const before = operation === 'UPDATE' && oldObject !== undefined ? oldObject : undefined;
  const delta = before === undefined ? usage : increase(usage, evaluator.usage(before, nowMs));
  const charged: ChargedQuota[] = [];
  for (const quota of concerned) {
    const isCounted = before !== undefined && counts(quota, before, evaluator);
    const decision = charge(quota, isCounted ? delta : usage, subresource !== 'status');
    if (typeof decision === 'string') return { refusal: decision };
    if (decision !== undefined) charged.push({ quota, used: decision });
  }
  return { charged };
}

/** Whether a quota counts an object (`Matches`). */
function counts(quota: JsonObject, object: JsonObject, evaluator: QuotaEvaluator): boolean {
  const names = Object.keys(recordOf(recordOf(quota.status).hard));
  return (
    names.some((name) => evaluator.covers(name)) && scopesOf(quota).every((scope) => evaluator.isInScope(object, scope))
  );
}

/** The usage after a request, undefined if it is unchanged, or why the quota refuses it. */
function charge(quota: JsonObject, delta: Amounts, enforced: boolean): Amounts | string | undefined {
  const status = recordOf(quota.status);
  const [hard, used] = [amountsOf(status.hard), amountsOf(status.used)];
  const requested = new Map([...delta].filter(([name, amount]) => hard.has(name) && !amount.isZero()));
  if (requested.size === 0) return undefined;
  const total = new Map(used);
  addTo(total, requested);
  const exceeded = [...requested.keys()].filter((name) => {
    const [sum, limit] = [total.get(name), hard.get(name)];
    return sum !== undefined && limit !== undefined && sum.compare(limit) > 0;
  });
  if (!enforced || exceeded.length === 0) return total;
  const shown = (amounts: Amounts) => printAmounts(masked(amounts, (name) => exceeded.includes(name)));
  const name = textOf(metaOf(quota).name);
  return `exceeded quota: ${name}, requested: ${shown(requested)}, used: ${shown(used)}, limited: ${shown(hard)}`;
}
