import { compareStrings } from '../compare-strings.js';
import { type ManagedSet, type Managers, managerId, secondsOf } from './managers.js';

/** How many entries of updates an object keeps; the oldest are merged into one per API version. */
const maxUpdateManagers = 10;

/** Merges the oldest entries of updates into `ancient-changes` until there are few enough (`capManagersManager`). */
export function capManagers(managers: Managers): Managers {
  const updaters = [...managers].filter(([, set]) => !set.applied);
  if (updaters.length <= maxUpdateManagers) return managers;
  updaters.sort(([a, x], [b, y]) => secondsOf(x.time) - secondsOf(y.time) || compareStrings(a, b));
  const out = new Map(managers);
  const firstOf = new Map<string, string>();
  let left = updaters.length;
  for (const [id, set] of updaters) {
    if (left <= maxUpdateManagers) break;
    const first = firstOf.get(set.apiVersion);
    if (first === undefined) {
      firstOf.set(set.apiVersion, id);
      continue;
    }
    const ancient = {
      manager: 'ancient-changes',
      applied: false,
      apiVersion: set.apiVersion,
      subresource: '',
    };
    const bucketId = managerId(ancient);
    let bucket: ManagedSet | undefined = out.get(bucketId);
    if (bucket === undefined) {
      bucket = out.get(first);
      out.delete(first);
    }
    const fields = bucket === undefined ? set.fields : set.fields.union(bucket.fields);
    // The time of the later one, which is this.
    out.set(bucketId, { ...ancient, time: set.time, fields });
    out.delete(id);
    left--;
  }
  return out;
}
