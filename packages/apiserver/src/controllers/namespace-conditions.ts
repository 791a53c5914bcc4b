import { isJsonObject, type JsonObject } from 'riata/object';
import { stringsOf } from '../resource/metadata.js';
import type { Resource } from '../resource/resource.js';
import type { Stored } from '../storage/storage.js';

/** The remaining content of a terminating namespace, by resource. */
export type Remaining = ReadonlyMap<Resource, readonly Stored[]>;

interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const good = (type: string, reason: string, message: string): Condition => ({ type, status: 'False', reason, message });

/** Sets the conditions that explain why a namespace still exists. Unchanged conditions keep their transition time. */
export function withConditions(
  namespace: JsonObject,
  remaining: Remaining,
  refusals: readonly string[],
  now: string,
): JsonObject {
  const status = isJsonObject(namespace.status) ? namespace.status : {};
  const before = (Array.isArray(status.conditions) ? status.conditions : []).filter(isJsonObject);
  const desired = conditionsOf(remaining, refusals);
  const conditions = desired.map(({ type, ...rest }) => {
    const known = before.find((c) => c.type === type);
    const lastTransitionTime = known?.status === rest.status ? (known.lastTransitionTime ?? now) : now;
    return { type, status: rest.status, lastTransitionTime, reason: rest.reason, message: rest.message };
  });
  const others = before.filter((c) => !desired.some(({ type }) => type === c.type));
  return { ...namespace, status: { ...status, conditions: [...conditions, ...others] } };
}

function conditionsOf(remaining: Remaining, refusals: readonly string[]): readonly Condition[] {
  const resources = [...remaining].map(
    ([{ plural, group }, items]) => `${plural}.${group} has ${items.length} resource instances`,
  );
  const finalizers = [...finalizersOf(remaining)].map(([name, count]) => `${name} in ${count} resource instances`);
  return [
    good('NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered'),
    good(
      'NamespaceDeletionGroupVersionParsingFailure',
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ),
    refusals.length === 0
      ? good(
          'NamespaceDeletionContentFailure',
          'ContentDeleted',
          'All content successfully deleted, may be waiting on finalization',
        )
      : {
          type: 'NamespaceDeletionContentFailure',
          status: 'True',
          reason: 'ContentDeletionFailed',
          message: `Failed to delete all resource types, ${refusals.length} remaining: ${[...refusals].sort().join(', ')}`,
        },
    resources.length === 0
      ? good('NamespaceContentRemaining', 'ContentRemoved', 'All content successfully removed')
      : {
          type: 'NamespaceContentRemaining',
          status: 'True',
          reason: 'SomeResourcesRemain',
          message: `Some resources are remaining: ${resources.sort().join(', ')}`,
        },
    finalizers.length === 0
      ? good('NamespaceFinalizersRemaining', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished')
      : {
          type: 'NamespaceFinalizersRemaining',
          status: 'True',
          reason: 'SomeFinalizersRemain',
          message: `Some content in the namespace has finalizers remaining: ${finalizers.sort().join(', ')}`,
        },
  ];
}

function finalizersOf(remaining: Remaining): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { object } of [...remaining.values()].flat()) {
    for (const name of stringsOf(object.metadata.finalizers)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
