import { type GroupVersionKind, type JsonObject, type LabelSelector, type Selector, selectorFrom } from 'riata/object';
import { metaOf, recordOf, recordsOf, stringsOf, textOf } from '../../resource/metadata.js';
import type { Resource } from '../../resource/resource.js';
import type { ResourceTable } from '../../resource/resource-table.js';
import { notFound } from '../../status/refusal.js';
import type { Storage } from '../../storage/storage.js';
import type { AdmissionAttributes } from '../admission.js';

/** The resource by which a rule matched a request: the requested one, or an equivalent. */
export interface MatchedResource {
  readonly resource: Resource;
  /** The kind of `object` and `oldObject` in that version. */
  readonly kind: GroupVersionKind;
}

/** Matches requests against rules and selectors (`matching.Matcher`). */
export class RequestMatcher {
  readonly #storage: Storage;
  readonly #served: ResourceTable;
  readonly #selectors = new WeakMap<JsonObject, Selector>();
  #equivalents: { readonly generation: number; readonly byTable: ReadonlyMap<string, readonly Resource[]> } | undefined;

  constructor({ storage, served }: { readonly storage: Storage; readonly served: ResourceTable }) {
    this.#storage = storage;
    this.#served = served;
  }

  /**
   * Matches by a `MatchResources`: selectors, excluded rules, rules. Returns undefined if the request does not match.
   * Throws a 404 if the namespace of a matching request does not exist.
   */
  match(expected: JsonObject, attributes: AdmissionAttributes): MatchedResource | undefined {
    if (!this.objectMatches(recordOf(expected.objectSelector), attributes)) return undefined;
    const { matchPolicy, resourceRules, excludeResourceRules } = expected;
    const fuzzy = matchPolicy === 'Equivalent';
    if (this.matchRules(recordsOf(excludeResourceRules), fuzzy, attributes) !== undefined) return undefined;
    const rules = recordsOf(resourceRules);
    const { resource, kind } = attributes;
    const found = rules.length === 0 ? { resource, kind } : this.matchRules(rules, fuzzy, attributes);
    if (found === undefined || !this.namespaceMatches(recordOf(expected.namespaceSelector), attributes))
      return undefined;
    return found;
  }

  /** Matches by rules only: the requested resource first, then resources with the same objects. */
  matchRules(
    rules: readonly JsonObject[],
    fuzzy: boolean,
    attributes: AdmissionAttributes,
  ): MatchedResource | undefined {
    const { resource, kind, subresource, name } = attributes;
    const isNamed = ({ resourceNames }: JsonObject) => {
      const names = stringsOf(resourceNames);
      return names.length === 0 || names.includes(name);
    };
    if (rules.some((rule) => ruleMatches(rule, attributes, resource) && isNamed(rule))) return { resource, kind };
    if (!fuzzy) return undefined;
    const others = this.#others(resource, subresource);
    for (const rule of rules) {
      for (const other of others) {
        if (!ruleMatches(rule, attributes, other) || !isNamed(rule)) continue;
        const { group, version, kind: name } = other.subresources.find((sub) => sub.name === subresource) ?? other;
        return { resource: other, kind: { group, version, kind: name } };
      }
    }
    return undefined;
  }

  /** Whether a selector matches the new or the old object. */
  objectMatches(given: JsonObject, { object, oldObject }: AdmissionAttributes): boolean {
    if (isEmpty(given)) return true;
    const selector = this.#selector(given);
    const matches = (one: JsonObject | undefined) => one !== undefined && selector.matches(labelsOf(one));
    return matches(object) || matches(oldObject);
  }

  /** Whether a selector matches the namespace; cluster-scoped objects always match. Throws a 404. */
  namespaceMatches(given: JsonObject, attributes: AdmissionAttributes): boolean {
    const { resource, namespace, operation, subresource, object } = attributes;
    const isNamespace = resource.plural === 'namespaces';
    if (isEmpty(given) || (namespace === '' && !isNamespace)) return true;
    // For a write of the namespace itself, use the new object, not the stored one.
    const isOwn = isNamespace && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE');
    const found = isOwn && object !== undefined ? object : this.namespace(namespace);
    return this.#selector(given).matches(labelsOf(found));
  }

  /** A namespace by its name. Throws a 404. */
  namespace(name: string): JsonObject {
    const found = this.#storage.get('/namespaces', name)?.object;
    if (found === undefined) throw notFound({ group: '', plural: 'namespaces', kind: 'Namespace' }, name);
    return found as unknown as JsonObject;
  }

  #selector(given: JsonObject): Selector {
    const known = this.#selectors.get(given) ?? selectorFrom(given as unknown as LabelSelector);
    this.#selectors.set(given, known);
    return known;
  }

  /** Resources with the same objects, in other versions and groups. */
  #others(resource: Resource, subresource: string): readonly Resource[] {
    const { generation } = this.#served;
    if (this.#equivalents?.generation !== generation) {
      const byTable = new Map<string, Resource[]>();
      for (const { name, versions } of this.#served.groups()) {
        for (const one of versions.flatMap((version) => this.#served.resources(name, version))) {
          byTable.set(one.table, [...(byTable.get(one.table) ?? []), one]);
        }
      }
      this.#equivalents = { generation, byTable };
    }
    const same = this.#equivalents.byTable.get(resource.table) ?? [];
    return same.filter(
      (one) =>
        (one.group !== resource.group || one.version !== resource.version) &&
        (subresource === '' || one.subresources.some(({ name }) => name === subresource)),
    );
  }
}

/** Whether a rule matches the request as one about `resource` (`rules.Matcher`). */
export function ruleMatches(rule: JsonObject, attributes: AdmissionAttributes, resource: Resource): boolean {
  const { namespace, operation, subresource } = attributes;
  const includes = (field: string, text: string) => {
    const list = stringsOf(rule[field]);
    return list.includes('*') || list.includes(text);
  };
  return (
    scopeMatches(textOf(rule.scope), namespace, resource) &&
    includes('operations', operation) &&
    includes('apiGroups', resource.group) &&
    includes('apiVersions', resource.version) &&
    stringsOf(rule.resources).some((text) => {
      const slash = text.indexOf('/');
      const [plural, below] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)];
      return (plural === '*' || plural === resource.plural) && (below === '*' || below === subresource);
    })
  );
}

function scopeMatches(scope: string, namespace: string, { group, plural }: Resource): boolean {
  if (scope === '' || scope === '*') return true;
  // The attributes of a Namespace name it as its own namespace, but it is cluster-scoped.
  const isCluster = namespace === '' || (group === '' && plural === 'namespaces');
  return scope === 'Cluster' ? isCluster : scope === 'Namespaced' && !isCluster;
}

function isEmpty({ matchLabels, matchExpressions }: JsonObject): boolean {
  return Object.keys(recordOf(matchLabels)).length === 0 && recordsOf(matchExpressions).length === 0;
}

function labelsOf(object: JsonObject): Readonly<Record<string, string>> {
  return recordOf(metaOf(object).labels) as Readonly<Record<string, string>>;
}
