import { isJsonObject, type JsonObject } from 'riata/object';
import type { UserInfo } from '../authentication/user-info.js';
import type { ReplyHeaders } from '../http/reply.js';
import type { RequestInfo } from '../http/request-info.js';
import { stringsOf, textOf, valueAt } from '../resource/metadata.js';
import type { Resource } from '../resource/resource.js';
import type { Storage } from '../storage/storage.js';

/** The attributes that decide the flow of a request. */
export interface FlowClassifierParts {
  readonly storage: Storage;
  readonly schemas: Resource;
  readonly levels: Resource;
}

interface Flow {
  readonly rules: readonly JsonObject[];
  readonly headers: ReplyHeaders;
}

/**
 * Finds the FlowSchema of a request, and its PriorityLevelConfiguration, which clients get in headers. No request
 * waits: one process does not need that.
 */
export class FlowClassifier {
  readonly #parts: FlowClassifierParts;
  #flows: readonly Flow[] | undefined;

  constructor(parts: FlowClassifierParts) {
    this.#parts = parts;
  }

  /** Observes every write of the storage. */
  observe(table: string): void {
    const { schemas, levels } = this.#parts;
    if (table === schemas.table || table === levels.table) this.#flows = undefined;
  }

  /** The headers that name the flow; none if no FlowSchema matches. */
  headersFor(user: UserInfo, info: RequestInfo): ReplyHeaders {
    this.#flows ??= this.#read();
    for (const { rules, headers } of this.#flows) if (rules.some((rule) => matches(rule, user, info))) return headers;
    return {};
  }

  /** In the order in which they are tried. Those of a level that is not there are left out. */
  #read(): readonly Flow[] {
    const { storage, schemas, levels } = this.#parts;
    const sorted = storage
      .list(schemas.table)
      .items.map(({ object }) => object as unknown as JsonObject)
      .sort((a, b) => precedenceOf(a) - precedenceOf(b));
    return sorted.flatMap((object) => {
      const level = storage.get(levels.table, textOf(valueAt(object, 'spec.priorityLevelConfiguration.name')));
      if (level === undefined) return [];
      const headers = {
        'x-kubernetes-pf-flowschema-uid': textOf(valueAt(object, 'metadata.uid')),
        'x-kubernetes-pf-prioritylevel-uid': level.object.metadata.uid,
      };
      return [{ rules: objectsOf(valueAt(object, 'spec.rules')), headers }];
    });
  }
}

function precedenceOf(object: JsonObject): number {
  const precedence = valueAt(object, 'spec.matchingPrecedence');
  return typeof precedence === 'number' ? precedence : 1000;
}

function matches(rule: JsonObject, user: UserInfo, info: RequestInfo): boolean {
  if (!objectsOf(rule.subjects).some((subject) => isSubject(subject, user))) return false;
  if (info.isResource) return objectsOf(rule.resourceRules).some((of) => isResourceMeant(of, info));
  return objectsOf(rule.nonResourceRules).some((of) => isPathMeant(of, info));
}

function isSubject(subject: JsonObject, { username, groups }: UserInfo): boolean {
  if (subject.kind === 'User') return isNamed(valueAt(subject, 'user.name'), textOf(username));
  if (subject.kind === 'Group') {
    const name = textOf(valueAt(subject, 'group.name'));
    return name === '*' || stringsOf(groups).includes(name);
  }
  const [system, kind, namespace, name = ''] = textOf(username).split(':');
  if (system !== 'system' || kind !== 'serviceaccount') return false;
  return (
    valueAt(subject, 'serviceAccount.namespace') === namespace && isNamed(valueAt(subject, 'serviceAccount.name'), name)
  );
}

function isNamed(expected: unknown, name: string): boolean {
  return expected === '*' || expected === name;
}

function isResourceMeant(rule: JsonObject, { verb, group, resource, subresource, namespace }: RequestInfo): boolean {
  const named = subresource === '' ? resource : `${resource}/${subresource}`;
  const isThere = namespace === '' ? rule.clusterScope === true : has(rule.namespaces, namespace);
  return isThere && has(rule.verbs, verb) && has(rule.apiGroups, group) && has(rule.resources, named);
}

function isPathMeant(rule: JsonObject, { verb, path }: RequestInfo): boolean {
  if (!has(rule.verbs, verb)) return false;
  return stringsOf(rule.nonResourceURLs).some(
    (url) => url === '*' || url === path || (url.endsWith('/*') && path.startsWith(url.slice(0, -1))),
  );
}

function has(list: unknown, value: string): boolean {
  const strings = stringsOf(list);
  return strings.includes('*') || strings.includes(value);
}

function objectsOf(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}
