import type { KubeObject } from 'riata';
import { type LabelSelector, selectorFrom } from 'riata/object';

/** Whether a selector of a workload picks an object; an empty one picks nothing. */
export function selects(selector: LabelSelector | undefined, { metadata }: KubeObject): boolean {
  if (selector === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  if (Object.keys(matchLabels).length === 0 && matchExpressions.length === 0) return false;
  return selectorFrom(selector).matches(metadata.labels ?? {});
}
