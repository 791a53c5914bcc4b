import { equal, isJsonObject, type Json, type JsonObject } from 'riata/object';
import { numberOf, recordOf, recordsOf } from '../../resource/metadata.js';
import { append } from '../../status/append.js';
import { type FieldError, invalid } from '../../status/field-error.js';

/** The forbidden differences between two specs, one line each: the path, the old and the new value. */
export function changedFields(now: JsonObject, was: JsonObject): string[] {
  return differences(munged(now, was), was, '');
}

/** The spec with what may change as it was. */
function munged(now: JsonObject, was: JsonObject): JsonObject {
  const made: Record<string, Json | undefined> = { ...now };
  for (const list of ['containers', 'initContainers']) {
    const before = recordsOf(was[list]);
    if (now[list] === undefined) continue;
    made[list] = recordsOf(now[list]).map((one, i) => ({ ...one, image: before[i]?.image ?? '' }));
  }
  for (const field of ['activeDeadlineSeconds', 'schedulingGates', 'tolerations']) {
    delete made[field];
    if (was[field] !== undefined) made[field] = was[field];
  }
  const grace = was.terminationGracePeriodSeconds;
  if (numberOf(grace) < 0 && now.terminationGracePeriodSeconds === 1) made.terminationGracePeriodSeconds = grace;
  return made as JsonObject;
}

function differences(now: Json | undefined, was: Json | undefined, path: string): string[] {
  if (equal(now ?? null, was ?? null)) return [];
  if (isJsonObject(now) && isJsonObject(was)) {
    const names = [...new Set([...Object.keys(was), ...Object.keys(now)])];
    return names.flatMap((name) => differences(now[name], was[name], path === '' ? name : `${path}.${name}`));
  }
  if (Array.isArray(now) && Array.isArray(was) && now.length === was.length) {
    return now.flatMap((item, index) => differences(item, was[index], `${path}[${index}]`));
  }
  return [`  ${path}: ${JSON.stringify(was ?? null)} -> ${JSON.stringify(now ?? null)}`];
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution';

/** While a Pod is gated, its node constraints may become narrower. */
export function checkGatedChanges(now: JsonObject, was: JsonObject): { errors: FieldError[]; munged: JsonObject } {
  const [selector, before] = [recordOf(now.nodeSelector), recordOf(was.nodeSelector)];
  const errors: FieldError[] = [];
  if (Object.keys(before).some((key) => selector[key] !== before[key])) {
    const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
    errors.push(invalid('spec.nodeSelector', now.nodeSelector ?? null, detail));
  }
  const { nodeAffinity: nodesNow, ...affinity } = recordOf(now.affinity);
  const { nodeAffinity: nodesBefore } = recordOf(was.affinity);
  append(errors, checkNodeTerms(recordOf(nodesNow), recordOf(nodesBefore)));
  const { nodeSelector: _, affinity: __, ...rest } = now;
  const kept = nodesBefore === undefined ? affinity : { ...affinity, nodeAffinity: nodesBefore };
  const none = Object.keys(kept).length === 0 && was.affinity === undefined;
  return {
    errors,
    munged: {
      ...rest,
      ...(was.nodeSelector === undefined ? {} : { nodeSelector: was.nodeSelector }),
      ...(none ? {} : { affinity: kept }),
    },
  };
}

function checkNodeTerms(now: JsonObject, was: JsonObject): FieldError[] {
  const at = `spec.affinity.nodeAffinity.${required}.nodeSelectorTerms`;
  const [terms, before] = [now, was].map((one) => recordsOf(recordOf(one[required]).nodeSelectorTerms)) as [
    readonly JsonObject[],
    readonly JsonObject[],
  ];
  if (before.length === 0) return [];
  if (terms.length !== before.length) {
    return [
      invalid(
        at,
        terms.length === 0 ? null : terms,
        'no additions/deletions to non-empty NodeSelectorTerms list are allowed',
      ),
    ];
  }
  return terms.flatMap((term, index) => {
    if (onlyAdds(term, before[index] ?? {})) return [];
    return [invalid(`${at}[${index}]`, term, 'only additions are allowed (no mutations or deletions)')];
  });
}

function onlyAdds(now: JsonObject, was: JsonObject): boolean {
  const lists = ['matchExpressions', 'matchFields'];
  const of = (term: JsonObject, list: string) => recordsOf(term[list]) as Json[];
  if (lists.every((list) => of(was, list).length === 0)) return lists.every((list) => of(now, list).length === 0);
  return lists.every((list) => equal(of(now, list).slice(0, of(was, list).length), of(was, list)));
}
