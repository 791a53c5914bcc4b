import { equal, isJsonObject, type JsonObject } from 'riata/object';
import { metaOf, textOf, withMeta } from '../resource/metadata.js';
import type { ObjectStore, SeededObject } from '../resource/object-store.js';
import type { Resource } from '../resource/resource.js';
import type { WriteContext } from '../resource/write-context.js';
import { missingRights, type PolicyRule, rulesOf } from './policy-rule.js';

/**
 * Brings roles or bindings of an older cluster up to the defaults: those that are missing are made, rules and subjects
 * that they lack are added. Others that were added stay (`rbac/bootstrap-roles`). An object with the annotation
 * `rbac.authorization.kubernetes.io/autoupdate: "false"` is left alone.
 */
export function reconcileDefaults(
  store: ObjectStore,
  resource: Resource,
  all: readonly SeededObject[],
  context: WriteContext,
): void {
  for (const { namespace, own } of all) {
    const expected = own.object;
    const name = textOf(metaOf(expected).name);
    const stored = store.find(resource, namespace, name);
    if (stored === undefined) {
      store.place(resource, namespace, own, context);
      continue;
    }
    const existing = stored.object as unknown as JsonObject;
    if (labelsOf(metaOf(existing).annotations)['rbac.authorization.kubernetes.io/autoupdate'] === 'false') continue;
    const { roleRef } = existing;
    if (roleRef !== undefined && !equal(roleRef, expected.roleRef)) {
      // What a binding refers to cannot be changed.
      store.remove(resource, stored);
      store.place(resource, namespace, own, context);
      continue;
    }
    const change = { subresource: '', make: (live: JsonObject) => reconciled(live, expected) };
    if (!equal(reconciled(existing, expected), existing)) store.update(resource, namespace, name, change, context);
  }
}

function reconciled(existing: JsonObject, expected: JsonObject): JsonObject {
  const { labels, annotations } = metaOf(existing);
  const merged = withMeta(existing, {
    labels: { ...labelsOf(metaOf(expected).labels), ...labelsOf(labels) },
    annotations: { ...labelsOf(metaOf(expected).annotations), ...labelsOf(annotations) },
  });
  return existing.roleRef === undefined ? withRules(merged, expected) : withSubjects(merged, expected);
}

function withRules(role: JsonObject, expected: JsonObject): JsonObject {
  const { aggregationRule: own, ...rest } = role;
  const { aggregationRule } = expected;
  // The rules of an aggregated role are collected from others.
  if (isJsonObject(aggregationRule)) {
    const [has, desired] = [selectorsOf(own), selectorsOf(aggregationRule)];
    const missing = desired.filter((selector) => !has.some((one) => equal(one, selector)));
    if (missing.length === 0) return role;
    return { ...role, aggregationRule: { clusterRoleSelectors: [...has, ...missing] } };
  }
  const missing = missingRights(rulesOf(role.rules), rulesOf(expected.rules));
  const complete = own === undefined ? role : rest;
  if (missing.length === 0) return complete;
  const rules = Array.isArray(role.rules) ? role.rules : [];
  return { ...complete, rules: [...rules, ...missing.map(written)] };
}

function withSubjects(binding: JsonObject, expected: JsonObject): JsonObject {
  const [has, desired] = [listOf(binding.subjects), listOf(expected.subjects)];
  const missing = desired.filter((subject) => !has.some((one) => equal(one, subject)));
  return missing.length === 0 ? binding : { ...binding, subjects: [...has, ...missing] };
}

/** A rule as objects have it: without lists that are empty. */
function written({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): JsonObject {
  const lists = Object.entries({ apiGroups, resources, resourceNames, nonResourceURLs });
  return { verbs: [...verbs], ...Object.fromEntries(lists.filter(([, list]) => list.length > 0)) } as JsonObject;
}

function selectorsOf(rule: unknown): readonly JsonObject[] {
  return isJsonObject(rule) ? listOf(rule.clusterRoleSelectors) : [];
}

function listOf(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function labelsOf(labels: unknown): JsonObject {
  return isJsonObject(labels) ? labels : {};
}
