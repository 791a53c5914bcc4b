import { equal, type JsonObject, type LabelSelector, type Labels, selectorFrom } from 'riata/object';
import { metaOf, recordOf, recordsOf, textOf } from '../resource/metadata.js';

/** The rules that a ClusterRole collects from others by its `aggregationRule`: each once, role by role in order. */
export function aggregatedRules(role: JsonObject, clusterRoles: readonly JsonObject[]): readonly JsonObject[] {
  const rules: JsonObject[] = [];
  const others = clusterRoles
    .filter((other) => nameOf(other) !== nameOf(role))
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  for (const given of recordsOf(recordOf(role.aggregationRule).clusterRoleSelectors)) {
    const selector = selectorFrom(given as LabelSelector);
    for (const other of others) {
      if (!selector.matches(recordOf(metaOf(other).labels) as Labels)) continue;
      for (const rule of recordsOf(other.rules)) if (!rules.some((known) => equal(known, rule))) rules.push(rule);
    }
  }
  return rules;
}

function nameOf(role: JsonObject): string {
  return textOf(metaOf(role).name);
}
