import type { JsonObject } from 'riata/object';
import type { Clock } from 'riata/runtime';
import { metaOf, recordOf, textOf } from '../../../resource/metadata.js';
import type { Storage } from '../../../storage/storage.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission.js';
import { forbiddenRequest, objectsOf, synchronousPlugin } from '../synchronous-plugin.js';
import { amountsToJson } from './amounts.js';
import { type ChargedQuota, chargeQuotas } from './charge-quotas.js';
import { evaluatorFor } from './evaluators.js';
import type { QuotaEvaluator } from './quota-evaluator.js';

const table = '/resourcequotas';

/** Dependencies of the plugin. */
export interface ResourceQuotaParts {
  readonly storage: Storage;
  readonly clock: Clock;
  /** Updates the quotas of a namespace, if the server manages their status. */
  readonly countQuotas?: ((namespace: string) => void) | undefined;
  /** Writes the status of an object of the core group. */
  updateStatus(plural: string, namespace: string, name: string, status: (object: JsonObject) => JsonObject): void;
}

/** Refuses objects that exceed a quota of their namespace, and counts the others (`ResourceQuota`). */
export function resourceQuota({ storage, clock, countQuotas, updateStatus }: ResourceQuotaParts): AdmissionPlugin {
  const charge = (object: JsonObject, attributes: AdmissionAttributes): readonly ChargedQuota[] => {
    const { namespace } = attributes;
    countQuotas?.(namespace);
    const quotas = objectsOf(storage, table, namespace).map((quota) => quota as unknown as JsonObject);
    if (quotas.length === 0) return [];
    const { group, plural } = attributes.resource;
    const evaluator = evaluatorFor(group, plural) as QuotaEvaluator;
    const decision = chargeQuotas(quotas, { ...request(attributes), object }, evaluator, clock.now());
    if ('refusal' in decision) throw forbiddenRequest(attributes, decision.refusal);
    return decision.charged;
  };
  return synchronousPlugin({
    name: 'ResourceQuota',
    handles(attributes) {
      if (storage.count(table) === 0 || attributes.resource.scope !== 'Namespaced') return false;
      const { group, plural } = attributes.resource;
      return evaluatorFor(group, plural)?.handles(request(attributes)) === true;
    },
    check: charge,
    // Runs in the same turn as the write, so that two requests cannot both take the remaining quota.
    commit(object, attributes) {
      for (const { quota, used } of charge(object, attributes)) {
        const status = (live: JsonObject) => ({ ...recordOf(live.status), used: amountsToJson(used) });
        updateStatus('resourcequotas', attributes.namespace, textOf(metaOf(quota).name), status);
      }
    },
  });
}

function request({ operation, subresource, object = {}, oldObject }: AdmissionAttributes) {
  return { operation, subresource, object, oldObject };
}
