import type { Cluster, Manager } from 'riata/manager';

/** The clusters that were added to a manager. */
export function clustersOf({ clusters }: Manager): readonly Cluster[] {
  return clusters.names.flatMap((name) => clusters.get(name) ?? []);
}
