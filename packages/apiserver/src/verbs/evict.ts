import {
  isJsonObject,
  type JsonObject,
  type KubeObject,
  type LabelSelector,
  type Status,
  selectorFrom,
} from 'riata/object';
import { parseDeleteOptions } from '../http/options/delete-options.js';
import { type DeleteRequest, deleteObject } from '../resource/delete-object.js';
import { metaOf, textOf, valueAt } from '../resource/metadata.js';
import type { ObjectStore } from '../resource/object-store.js';
import type { Resource } from '../resource/resource.js';
import type { WriteContext } from '../resource/write-context.js';
import { badRequest, conflict, statusOf } from '../status/refusal.js';
import type { Steps } from '../steps.js';
import type { Storage } from '../storage/storage.js';
import { ownWrite, validateNew } from './admit-new.js';
import { takeDisruption } from './take-disruption.js';
import { withCondition } from './with-condition.js';

/** What an eviction looks at beside the Pod. */
export interface EvictionParts {
  readonly store: ObjectStore;
  readonly storage: Storage;
  readonly budgets: () => Resource;
}

/**
 * Deletes a Pod if the PodDisruptionBudget that it falls under lets it go, and notes there that it did. Throws 429 where
 * it does not.
 */
export function* evict(
  parts: EvictionParts,
  pods: Resource,
  namespace: string,
  name: string,
  eviction: JsonObject,
  context: WriteContext,
): Steps<Status> {
  if (textOf(metaOf(eviction).name) !== name) throw badRequest('name in URL does not match name in Eviction object');
  const options = parseDeleteOptions(new Map(), isJsonObject(eviction.deleteOptions) ? eviction.deleteOptions : {});
  yield* validateNew(eviction, context);
  const dry = { ...ownWrite(context), dryRun: context.dryRun || options.dryRun };
  const pod = parts.store.get(pods, namespace, name);
  if (!isNoDisruption(pod as unknown as JsonObject)) {
    const budgets = budgetsOf(parts, pod);
    const [budget] = budgets;
    if (budgets.length > 1) {
      const message =
        'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
      return statusOf('Failure', 500, undefined, message);
    }
    if (budget !== undefined && !mayGoUnhealthy(pod as unknown as JsonObject, budget)) {
      const budgetName = textOf(metaOf(budget).name);
      const taken = takeDisruption(budget, name, dry.now);
      if (!dry.dryRun) {
        const change = { subresource: 'status', make: () => taken };
        parts.store.update(parts.budgets(), namespace, budgetName, change, { ...dry, fieldManager: 'kube-apiserver' });
      }
    }
  }
  remove(parts.store, pods, pod, options, dry);
  return statusOf('Success', 201);
}

/** Marks the Pod as evicted and deletes it. Its preconditions are checked before the mark changes its version. */
function remove(
  store: ObjectStore,
  pods: Resource,
  pod: KubeObject,
  options: DeleteRequest,
  context: WriteContext,
): void {
  const { name, namespace = '', uid, resourceVersion } = pod.metadata;
  const { preconditions = {} } = options;
  const wrong = (what: string, asked: string, is: string, why: string) =>
    conflict(
      { ...pods, plural: 'Pod' },
      name,
      `the ${what} in the precondition (${asked}) does not match the ${what} in record (${is}). ${why}`,
    );
  if (preconditions.uid && preconditions.uid !== uid) {
    throw wrong('UID', preconditions.uid, uid, 'The object might have been deleted and then recreated');
  }
  if (preconditions.resourceVersion && preconditions.resourceVersion !== resourceVersion) {
    const asked = preconditions.resourceVersion;
    throw wrong('ResourceVersion', asked, resourceVersion, 'The object might have been modified');
  }
  if (!context.dryRun) {
    const mark = (live: JsonObject) => withCondition(live, { ...evicted, now: context.now });
    store.update(pods, namespace, name, { subresource: 'eviction', make: mark, tracked: true }, context);
  }
  deleteObject(store, pods, namespace, name, { ...options, preconditions: undefined }, context);
}

const evicted = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
};

/** A Pod that does not run yet, or no longer runs, or is being deleted needs no budget. */
function isNoDisruption(pod: JsonObject): boolean {
  const phase = textOf(valueAt(pod, 'status.phase'));
  return ['', 'Pending', 'Succeeded', 'Failed'].includes(phase) || textOf(metaOf(pod).deletionTimestamp) !== '';
}

function budgetsOf({ storage, budgets }: EvictionParts, { metadata }: KubeObject): JsonObject[] {
  const { items } = storage.list(budgets().table, { prefix: `${metadata.namespace}/` });
  return items
    .map(({ object }) => object as unknown as JsonObject)
    .filter((budget) => {
      const selector = valueAt(budget, 'spec.selector');
      try {
        return selectorFrom(selector as LabelSelector | undefined).matches(metadata.labels ?? {});
      } catch {
        return false; // A selector that cannot be read chooses nothing.
      }
    });
}

/** Whether a Pod that is not ready may go without being counted. */
function mayGoUnhealthy(pod: JsonObject, budget: JsonObject): boolean {
  const conditions = valueAt(pod, 'status.conditions');
  const isReady = (Array.isArray(conditions) ? conditions : []).some(
    (c) => isJsonObject(c) && c.type === 'Ready' && c.status === 'True',
  );
  if (isReady) return false;
  if (valueAt(budget, 'spec.unhealthyPodEvictionPolicy') === 'AlwaysAllow') return true;
  const count = (field: string) => Number(valueAt(budget, `status.${field}`) ?? 0);
  return count('currentHealthy') >= count('desiredHealthy') && count('desiredHealthy') > 0;
}
