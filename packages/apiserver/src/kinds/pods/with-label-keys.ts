import type { Json, JsonObject } from 'riata/object';
import { recordOf, recordsOf, stringsOf } from '../../resource/metadata.js';

/** The spec with selectors that mean the values that some labels of the Pod itself have. */
export function withLabelKeys(spec: JsonObject, labels: JsonObject): JsonObject {
  const made: Record<string, Json | undefined> = { ...spec };
  const constraints = recordsOf(spec.topologySpreadConstraints);
  if (constraints.some(hasKeys)) made.topologySpreadConstraints = constraints.map((one) => withSelector(one, labels));
  const affinity = recordOf(spec.affinity);
  const kinds = ['podAffinity', 'podAntiAffinity'].filter((kind) => termsOf(recordOf(affinity[kind])).some(hasKeys));
  if (kinds.length > 0) {
    const changed = kinds.map((kind) => [kind, withSelectors(recordOf(affinity[kind]), labels)] as const);
    made.affinity = { ...affinity, ...Object.fromEntries(changed) };
  }
  return made.affinity === spec.affinity && made.topologySpreadConstraints === spec.topologySpreadConstraints
    ? spec
    : (made as JsonObject);
}

const always = 'requiredDuringSchedulingIgnoredDuringExecution';
const ifPossible = 'preferredDuringSchedulingIgnoredDuringExecution';

function termsOf(affinity: JsonObject): readonly JsonObject[] {
  const weighted = recordsOf(affinity[ifPossible]).map(({ podAffinityTerm }) => recordOf(podAffinityTerm));
  return [...recordsOf(affinity[always]), ...weighted];
}

function hasKeys({ matchLabelKeys, mismatchLabelKeys, labelSelector }: JsonObject): boolean {
  return labelSelector !== undefined && (matchLabelKeys ?? mismatchLabelKeys) !== undefined;
}

function withSelectors(affinity: JsonObject, labels: JsonObject): JsonObject {
  const made: Record<string, Json | undefined> = { ...affinity };
  if (affinity[always] !== undefined) {
    made[always] = recordsOf(affinity[always]).map((term) => withSelector(term, labels));
  }
  if (affinity[ifPossible] !== undefined) {
    made[ifPossible] = recordsOf(affinity[ifPossible]).map((one) => ({
      ...one,
      podAffinityTerm: withSelector(recordOf(one.podAffinityTerm), labels),
    }));
  }
  return made as JsonObject;
}

function withSelector(term: JsonObject, labels: JsonObject): JsonObject {
  if (!hasKeys(term)) return term;
  const selector = recordOf(term.labelSelector);
  const expected = (keys: Json | undefined, operator: string) =>
    stringsOf(keys)
      .filter((key) => labels[key] !== undefined)
      .map((key) => ({ key, operator, values: [labels[key] as string] }));
  const added = [...expected(term.matchLabelKeys, 'In'), ...expected(term.mismatchLabelKeys, 'NotIn')];
  if (added.length === 0) return term;
  const matchExpressions = [...recordsOf(selector.matchExpressions), ...added];
  return { ...term, labelSelector: { ...selector, matchExpressions } };
}
