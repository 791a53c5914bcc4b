import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from 'riata/kinds';
import { optionNames, refuseUnknownOptions } from 'riata/runtime';
import type { RecordedRequest, RequestRecorder } from './request-recorder.js';
import { resourceIn } from './request-target.js';

/** One rule of a role (`rbac/v1.PolicyRule`), about resources or about paths. */
export type UsedRule =
  | { readonly apiGroups: readonly string[]; readonly resources: readonly string[]; readonly verbs: readonly string[] }
  | { readonly nonResourceURLs: readonly string[]; readonly verbs: readonly string[] };

/** The subject of the rights, and the names of the roles. */
export interface RightsManifestsOptions {
  /** Of all roles and bindings. */
  readonly name: string;
  /** A ServiceAccount and its namespace, or a user. */
  readonly for: { readonly serviceAccount: string; readonly namespace: string } | { readonly user: string };
}

export const rightsManifestsOptionNames = optionNames<RightsManifestsOptions>({ name: true, for: true });

/** The objects that roles and their bindings are made of. */
export type RightsManifest =
  | ReturnType<typeof ClusterRole>
  | ReturnType<typeof ClusterRoleBinding>
  | ReturnType<typeof Role>
  | ReturnType<typeof RoleBinding>;

/** The rights that requests have needed, as rules. */
export interface UsedRights {
  /** For a ClusterRole: cluster-scoped kinds, all namespaces at once, and paths. */
  readonly clusterRules: readonly UsedRule[];
  /** For Roles, by namespace; without what the cluster rules already give. */
  readonly namespaceRules: Readonly<Record<string, readonly UsedRule[]>>;
  /** Roles with these rules, and their bindings. */
  manifests(options: RightsManifestsOptions): readonly RightsManifest[];
}

/** The rights of every authenticated user by the default roles of Kubernetes. */
const freePaths = /^\/(api|apis|openapi)(\/.*)?$|^\/(healthz|livez|readyz|version)\/?$/;
const freeKinds: ReadonlySet<string> = new Set([
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
  'authentication.k8s.io/selfsubjectreviews',
]);

/**
 * The smallest roles for what was done: one right for each verb and resource that a request used, in its namespace or
 * at the cluster scope. Includes what the same code needs on other days: an apply may have to create the object, and a
 * streaming list falls back to a plain one. Names of objects don't count, and requests that were forbidden don't either.
 *
 * @example
 * await env.run(foos);
 * await env.settle();
 * const { clusterRules, namespaceRules } = usedRights(env.requests);
 */
export function usedRights(requests: RequestRecorder | readonly RecordedRequest[]): UsedRights {
  const all = 'all' in requests ? requests.all : requests;
  const cluster = new Rights();
  const namespaces = new Map<string, Rights>();
  for (const request of all) {
    if (request.code === 403 || request.code === 401) continue;
    const { namespace } = request;
    const rights = namespace === undefined ? cluster : (namespaces.get(namespace) ?? new Rights());
    if (namespace !== undefined) namespaces.set(namespace, rights);
    for (const right of rightsOf(request)) rights.add(right);
  }
  const inNamespaces = [...namespaces]
    .map(([namespace, rights]) => [namespace, rights.without(cluster).rules()] as const)
    .filter(([, rules]) => rules.length > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const [clusterRules, namespaceRules] = [cluster.rules(), Object.fromEntries(inNamespaces)];
  return {
    ...{ clusterRules, namespaceRules },
    manifests: (options) => manifestsOf(clusterRules, namespaceRules, options),
  };
}

/** One verb on one resource of a group, or on a path. */
export type Right =
  | { readonly group: string; readonly resource: string; readonly verb: string }
  | { readonly path: string; readonly verb: string };

/** The rights that a request needs, and those that its kind of request may need another time. */
export function rightsOf(request: RecordedRequest): readonly Right[] {
  const { verb, group, subresource } = request;
  const plural = resourceIn(request.path);
  const [path = '', query] = request.path.split('?', 2);
  if (plural === undefined) return freePaths.test(path) ? [] : [{ path, verb: pathVerbs[verb] ?? verb }];
  if (freeKinds.has(`${group}/${plural}`)) return [];
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  const right = (needed: string) => ({ group, resource, verb: needed });
  const isApply = String(request.headers['content-type'] ?? '').startsWith('application/apply-patch');
  if (verb === 'patch' && isApply && subresource === undefined) return [right(verb), right('create')];
  const isStreamingList = verb === 'watch' && new URLSearchParams(query).get('sendInitialEvents') === 'true';
  return isStreamingList ? [right(verb), right('list')] : [right(verb)];
}

/** For paths, RBAC goes by the methods of HTTP. */
const pathVerbs: Readonly<Record<string, string>> = { create: 'post', update: 'put' };

/** Rights, each once. */
class Rights {
  readonly #verbs = new Map<string, Set<string>>();

  add(right: Right): void {
    const id = idOf(right);
    this.#verbs.set(id, (this.#verbs.get(id) ?? new Set()).add(right.verb));
  }

  /** Rights that no other rule has. */
  without(others: Rights): Rights {
    const left = new Rights();
    for (const [id, verbs] of this.#verbs) {
      const more = [...verbs].filter((verb) => others.#verbs.get(id)?.has(verb) !== true);
      if (more.length > 0) left.#verbs.set(id, new Set(more));
    }
    return left;
  }

  /** Resources of one group with the same verbs share a rule. */
  rules(): UsedRule[] {
    const merged = new Map<string, { group: string | undefined; names: string[]; verbs: string[] }>();
    for (const [id, of] of [...this.#verbs].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const [group, name = ''] = JSON.parse(id) as [string | undefined, string];
      const verbs = [...of].sort();
      const shared = JSON.stringify([group, verbs]);
      const known = merged.get(shared);
      if (known === undefined) merged.set(shared, { group: group ?? undefined, names: [name], verbs });
      else known.names.push(name);
    }
    return [...merged.values()].map(({ group, names, verbs }) =>
      group === undefined ? { nonResourceURLs: names, verbs } : { apiGroups: [group], resources: names, verbs },
    );
  }
}

function idOf(right: Right): string {
  return JSON.stringify('path' in right ? [null, right.path] : [right.group, right.resource]);
}

function manifestsOf(
  clusterRules: readonly UsedRule[],
  namespaceRules: Readonly<Record<string, readonly UsedRule[]>>,
  options: RightsManifestsOptions,
): readonly RightsManifest[] {
  refuseUnknownOptions('manifests', options, rightsManifestsOptionNames);
  const { name, for: who } = options;
  const apiGroup = 'rbac.authorization.k8s.io';
  const subject =
    'user' in who
      ? { apiGroup, kind: 'User', name: who.user }
      : { kind: 'ServiceAccount', name: who.serviceAccount, namespace: who.namespace };
  const binding = (kind: string) => ({ roleRef: { apiGroup, kind, name }, subjects: [subject] });
  const cluster = [
    ClusterRole({ metadata: { name }, rules: rulesOf(clusterRules) }),
    ClusterRoleBinding({ metadata: { name }, ...binding('ClusterRole') }),
  ];
  const others = Object.entries(namespaceRules).flatMap(([namespace, rules]) => [
    Role({ metadata: { namespace, name }, rules: rulesOf(rules) }),
    RoleBinding({ metadata: { namespace, name }, ...binding('Role') }),
  ]);
  return [...(clusterRules.length > 0 ? cluster : []), ...others];
}

type ManifestRules = NonNullable<Parameters<typeof Role>[0]['rules']>;

function rulesOf(rules: readonly UsedRule[]): ManifestRules {
  return rules as ManifestRules;
}
