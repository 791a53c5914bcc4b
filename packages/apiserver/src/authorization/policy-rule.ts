import { isJsonObject, type Json } from 'riata/object';
import { stringsOf } from '../resource/metadata.js';
import { goQuote } from '../status/go-quote.js';
import type { Attributes } from './attributes.js';

/** One rule of a role (`rbac/v1.PolicyRule`), with every list there. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  /** None: whatever the name. */
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** Reads the rules of a role. */
export function rulesOf(rules: Json | undefined): readonly PolicyRule[] {
  if (!Array.isArray(rules)) return [];
  return rules.filter(isJsonObject).map((rule) => ({
    verbs: stringsOf(rule.verbs),
    apiGroups: stringsOf(rule.apiGroups),
    resources: stringsOf(rule.resources),
    resourceNames: stringsOf(rule.resourceNames),
    nonResourceURLs: stringsOf(rule.nonResourceURLs),
  }));
}

/** Whether a rule allows something (`rbac.RuleAllows`). */
export function allows(rule: PolicyRule, expected: Attributes): boolean {
  if (!has(rule.verbs, expected.verb)) return false;
  if (!expected.isResource)
    return rule.nonResourceURLs.some((url) => url === expected.path || isUnder(expected.path, url));
  const { group, resource, subresource, name } = expected;
  if (!has(rule.apiGroups, group) || !isResourceMeant(rule.resources, resource, subresource)) return false;
  return rule.resourceNames.length === 0 || rule.resourceNames.includes(name);
}

function has(list: readonly string[], value: string): boolean {
  return list.includes(value) || list.includes('*');
}

/** `pods` means no subresource, `*` means all; a star before the slash means that subresource of every resource. */
function isResourceMeant(resources: readonly string[], resource: string, subresource: string): boolean {
  if (subresource === '') return has(resources, resource);
  return has(resources, `${resource}/${subresource}`) || resources.includes(`*/${subresource}`);
}

function isUnder(path: string, url: string): boolean {
  return url.endsWith('*') && path.startsWith(url.replace(/\*+$/, ''));
}

/**
 * What the rules of an owner do not cover of other rules, taken apart into single rights and put together again by
 * resource, as text in order. Empty if they cover all of it (`validation.Covers`, `CompactRules`).
 */
export function uncovered(owned: readonly PolicyRule[], expected: readonly PolicyRule[]): readonly string[] {
  return [...new Set(compact(missingRights(owned, expected)).map(describe))].sort();
}

/** What the rules of an owner do not cover of other rules, one right each (`validation.Covers`). */
export function missingRights(owned: readonly PolicyRule[], expected: readonly PolicyRule[]): PolicyRule[] {
  return expected.flatMap(singleRights).filter((right) => !owned.some((rule) => covers(rule, right)));
}

function singleRights(rule: PolicyRule): PolicyRule[] {
  const { verbs, resourceNames } = rule;
  const names = resourceNames.length === 0 ? [[]] : resourceNames.map((name) => [name]);
  const ofResources = rule.apiGroups.flatMap((group) =>
    rule.resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((resourceName) => ({
          verbs: [verb],
          apiGroups: [group],
          resources: [resource],
          resourceNames: resourceName,
          nonResourceURLs: [],
        })),
      ),
    ),
  );
  const ofPaths = rule.nonResourceURLs.flatMap((url) =>
    verbs.map((verb) => ({ verbs: [verb], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [url] })),
  );
  return [...ofResources, ...ofPaths];
}

/** Whether a rule holds a single right. */
function covers(rule: PolicyRule, right: PolicyRule): boolean {
  const [resource = ''] = right.resources;
  const slash = resource.indexOf('/');
  const isResource =
    right.resources.length === 0 ||
    has(rule.resources, resource) ||
    (slash >= 0 && rule.resources.includes(`*${resource.slice(slash)}`));
  const isNamed =
    rule.resourceNames.length === 0 ||
    (right.resourceNames.length > 0 && right.resourceNames.every((name) => rule.resourceNames.includes(name)));
  return (
    right.verbs.every((verb) => has(rule.verbs, verb)) &&
    right.apiGroups.every((group) => has(rule.apiGroups, group)) &&
    isResource &&
    isNamed &&
    right.nonResourceURLs.every((path) => rule.nonResourceURLs.some((url) => url === path || isUnder(path, url)))
  );
}

/** Rights to the same resource and name, with all their verbs in one rule. */
function compact(rights: readonly PolicyRule[]): readonly PolicyRule[] {
  const compacted = new Map<string, PolicyRule>();
  rights.forEach((right, index) => {
    const { apiGroups, resources, resourceNames, nonResourceURLs } = right;
    const id = nonResourceURLs.length > 0 ? String(index) : JSON.stringify([apiGroups, resources, resourceNames]);
    const known = compacted.get(id);
    compacted.set(id, known === undefined ? right : { ...known, verbs: [...known.verbs, ...right.verbs] });
  });
  return [...compacted.values()];
}

function describe(rule: PolicyRule): string {
  const parts: readonly (readonly [string, readonly string[]])[] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  const shown = parts.filter(([, list]) => list.length > 0).map(([name, list]) => `${name}:${goList(list)}`);
  return `{${shown.join(', ')}}`;
}

/** A list of texts as Go's `%q` writes it. */
export function goList(list: readonly string[]): string {
  return `[${list.map((text) => goQuote(text)).join(' ')}]`;
}
