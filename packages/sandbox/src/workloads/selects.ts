import type { KubeObject } from 'riata';
import { type LabelSelector, selectorFrom } from 'riata/object';

/** Whether a selector of a workload picks an object; an empty one picks nothing. */
export function selects(selector: LabelSelector | undefined, { metadata }: KubeObject): boolean {
  if (selector === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  if (Object.keys(matchLabels).length === 0 && matchExpressions.length === 0) return false;
  return selectorFrom(selector).matches(metadata.labels ?? {});
}

/** A selector as Go prints it, which messages of upstream's controllers hold. */
export function selectorText(selector: LabelSelector | undefined): string {
  if (selector === undefined) return 'nil';
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const labels = Object.entries(matchLabels).sort(([a], [b]) => (a < b ? -1 : 1));
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  const pairs = labels.map(([key, value]) => `${key}: ${value},`).join('');
  return `&LabelSelector{MatchLabels:map[string]string{${pairs}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}
