import { isJsonObject, type JsonObject } from 'riata/object';
import type { UserInfo } from '../authentication/user-info.js';
import type { ReplyHeaders } from '../http/reply.js';
import type { RequestInfo } from '../http/request-info.js';
import { stringsOf, textOf, valueAt } from '../resource/metadata.js';
import type { Resource } from '../resource/resource.js';
import type { Storage } from '../storage/storage.js';
import type { LevelSpec } from './priority-level.js';

/** Where the configuration of flow control is stored. */
export interface FlowClassifierParts {
  readonly storage: Storage;
  readonly schemas: Resource;
  readonly levels: Resource;
}

/** A FlowSchema, with the level that it assigns requests to. */
export interface FlowSchema {
  readonly name: string;
  /** The name of its PriorityLevelConfiguration. */
  readonly level: string;
  /** Distinguishes the flows of the schema. @default nothing: it is one flow */
  readonly by: 'ByUser' | 'ByNamespace' | undefined;
  readonly rules: readonly JsonObject[];
  /** Headers that name the schema and the level. */
  readonly headers: ReplyHeaders;
}

/** What is configured at one time. */
interface Configured {
  /** In the order in which they are tried. Those whose level does not exist are left out. */
  readonly schemas: readonly FlowSchema[];
  readonly levels: readonly LevelSpec[];
}

/** Finds the FlowSchema of a request, and its PriorityLevelConfiguration. */
export class FlowClassifier {
  readonly #parts: FlowClassifierParts;
  #configured: Configured | undefined;

  constructor(parts: FlowClassifierParts) {
    this.#parts = parts;
  }

  /** Observes every write of the storage. True when the configuration may have changed. */
  observe(table: string): boolean {
    const { schemas, levels } = this.#parts;
    if (table !== schemas.table && table !== levels.table) return false;
    this.#configured = undefined;
    return true;
  }

  /** The levels that exist. */
  levels(): readonly LevelSpec[] {
    this.#configured ??= this.#read();
    return this.#configured.levels;
  }

  /** The schema of a request; undefined if none matches. */
  schemaOf(user: UserInfo, info: RequestInfo): FlowSchema | undefined {
    this.#configured ??= this.#read();
    for (const schema of this.#configured.schemas) {
      for (const rule of schema.rules) if (matches(rule, user, info)) return schema;
    }
    return undefined;
  }

  #read(): Configured {
    const { storage, schemas, levels } = this.#parts;
    const sorted = storage
      .list(schemas.table)
      .items.map(({ object }) => object as unknown as JsonObject)
      .sort((a, b) => precedenceOf(a) - precedenceOf(b));
    const known = storage.list(levels.table).items.map(({ object }) => object as unknown as JsonObject);
    const uids = new Map(known.map((object) => [textOf(valueAt(object, 'metadata.name')), uidOf(object)]));
    return {
      levels: known.map(levelOf),
      schemas: sorted.flatMap((object) => {
        const level = textOf(valueAt(object, 'spec.priorityLevelConfiguration.name'));
        const uid = uids.get(level);
        return uid === undefined ? [] : [schemaOf(object, level, uid)];
      }),
    };
  }
}

function schemaOf(object: JsonObject, level: string, levelUid: string): FlowSchema {
  const by = valueAt(object, 'spec.distinguisherMethod.type');
  return {
    name: textOf(valueAt(object, 'metadata.name')),
    level,
    by: by === 'ByUser' || by === 'ByNamespace' ? by : undefined,
    rules: objectsOf(valueAt(object, 'spec.rules')),
    headers: { 'x-kubernetes-pf-flowschema-uid': uidOf(object), 'x-kubernetes-pf-prioritylevel-uid': levelUid },
  };
}

function levelOf(object: JsonObject): LevelSpec {
  const name = textOf(valueAt(object, 'metadata.name'));
  const exempt = valueAt(object, 'spec.type') === 'Exempt';
  const at = (path: string) => numberOf(valueAt(object, `spec.${exempt ? 'exempt' : 'limited'}.${path}`));
  const queues = at('limitResponse.queuing.queues');
  return {
    ...{ name, exempt, shares: at('nominalConcurrencyShares') ?? (exempt ? 0 : 30) },
    lendablePercent: at('lendablePercent') ?? 0,
    borrowingLimitPercent: at('borrowingLimitPercent'),
    queuing:
      queues === undefined
        ? undefined
        : {
            queues,
            handSize: at('limitResponse.queuing.handSize') ?? 8,
            queueLengthLimit: at('limitResponse.queuing.queueLengthLimit') ?? 50,
          },
  };
}

function uidOf(object: JsonObject): string {
  return textOf(valueAt(object, 'metadata.uid'));
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function precedenceOf(object: JsonObject): number {
  return numberOf(valueAt(object, 'spec.matchingPrecedence')) ?? 1000;
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

/** As upstream, a path stands for all paths below it, with and without a `*` at its end. */
function isPathMeant(rule: JsonObject, { verb, path }: RequestInfo): boolean {
  if (!has(rule.verbs, verb)) return false;
  return stringsOf(rule.nonResourceURLs).some((url) => url === '*' || url === path || path.startsWith(folderOf(url)));
}

function folderOf(url: string): string {
  const start = url.endsWith('*') ? url.slice(0, -1) : url;
  return start.endsWith('/') ? start : `${start}/`;
}

function has(list: unknown, value: string): boolean {
  const strings = stringsOf(list);
  return strings.includes('*') || strings.includes(value);
}

function objectsOf(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}
