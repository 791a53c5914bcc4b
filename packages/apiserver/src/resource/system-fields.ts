import { equal, isJsonObject, type JsonObject } from 'riata/object';
import { metaOf, textOf, valueAt, withMeta } from './metadata.js';
import { hasSubresource, type Resource } from './resource.js';

/** Removes the fields of a new object that only the server sets. */
export function wipeSystemFields(object: JsonObject): JsonObject {
  return withMeta(object, {
    uid: undefined,
    creationTimestamp: undefined,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
    selfLink: undefined,
    resourceVersion: undefined,
  });
}

/** Restores the fields of a changed object that writers cannot change. */
export function keepSystemFields(
  resource: Resource,
  live: JsonObject,
  made: JsonObject,
  subresource: string,
): JsonObject {
  const before = metaOf(live);
  const sent = metaOf(made);
  const { creationTimestamp, generation } = before;
  const system = {
    ...{ creationTimestamp, generation, selfLink: undefined },
    uid: textOf(sent.uid) === '' ? before.uid : sent.uid,
    // An update cannot start a deletion; validation refuses that later.
    deletionTimestamp: before.deletionTimestamp ?? sent.deletionTimestamp,
    deletionGracePeriodSeconds: sent.deletionGracePeriodSeconds ?? before.deletionGracePeriodSeconds,
  };
  const { statusKeeps = 'all' } = resource.rules;
  if (subresource === 'status' && statusKeeps === 'all') {
    const { managedFields } = sent;
    return { ...without(withMeta(live, { managedFields }), 'status'), ...pick(made, 'status') };
  }
  const whole = withMeta(made, { ...system, resourceVersion: before.resourceVersion });
  if (subresource === 'status') {
    const kept = statusKeeps === 'all' ? [] : statusKeeps.map((field) => [field, before[field]] as const);
    const { metadata = {} } = withMeta(whole, Object.fromEntries(kept));
    return { ...without(live, 'status'), metadata, ...pick(made, 'status') };
  }
  if (subresource === 'approval') {
    const conditions = valueAt(made, 'status.conditions');
    const { conditions: _, ...status } = isJsonObject(live.status) ? live.status : {};
    return {
      ...live,
      metadata: metaOf(whole),
      status: conditions === undefined ? status : { ...status, conditions },
    };
  }
  // Binding and eviction write spec and status.
  if (subresource === 'binding' || subresource === 'eviction') return whole;
  return hasSubresource(resource, 'status') ? { ...without(whole, 'status'), ...pick(live, 'status') } : whole;
}

/** Increments the generation if the desired state has changed. */
export function withGeneration(
  resource: Resource,
  live: JsonObject,
  object: JsonObject,
  subresource: string,
): JsonObject {
  const { countsGenerations, countsAnnotations, countsLabels } = resource.rules;
  // Upstream, a binding goes straight to the storage.
  if (!countsGenerations || subresource === 'binding') return object;
  const counts = (field: string) =>
    !['metadata', 'apiVersion', 'kind'].includes(field) && (field !== 'status' || !hasSubresource(resource, 'status'));
  const desired = (of: JsonObject) => Object.fromEntries(Object.entries(of).filter(([field]) => counts(field)));
  const noted = (of: JsonObject) => {
    const { annotations, labels } = metaOf(of);
    return { ...(countsAnnotations ? { annotations } : {}), ...(countsLabels ? { labels } : {}) };
  };
  const generation = Number(metaOf(live).generation ?? 0);
  const isNoted = (countsAnnotations || countsLabels) && subresource !== 'status';
  const isSame = equal(desired(live), desired(object)) && !(isNoted && !equal(noted(live), noted(object)));
  return withMeta(object, { generation: isSame ? generation : generation + 1 });
}

/** A new object without status. */
export function withoutStatus(object: JsonObject, emptyStatus: JsonObject | undefined): JsonObject {
  const bare = without(object, 'status');
  return emptyStatus === undefined ? bare : { ...bare, status: emptyStatus };
}

function without(object: JsonObject, field: string): JsonObject {
  const { [field]: _, ...rest } = object;
  return rest;
}

function pick(object: JsonObject, field: string): JsonObject {
  const value = object[field];
  return value === undefined ? {} : { [field]: value };
}
