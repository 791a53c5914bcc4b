import type { WriteObject } from '../../client/interfaces.js';
import type { ControllerDefinition } from '../../controller/define/controller-definition.js';
import { ClusterRole, ClusterRoleBinding, Lease, Role, RoleBinding, ServiceAccount } from '../../kinds/index.js';
import { compareStrings } from '../../object/compare-strings.js';
import type { KindRef } from '../../object/kind.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { changeVerbs, type RbacNeed, type RbacNeeds, readVerbs, writeVerbs } from '../../shared/rbac-need.js';

/** A rule of a role (`rbac/v1.PolicyRule`). */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** In the namespace of the program alone, e.g. for its Lease; for {@link rbacManifests}. @default wherever it works */
  readonly ownNamespace?: true;
}

/**
 * The sources of rights: a definition; a factory of shared controllers, or `Controllers` over it; an object that knows
 * its own needs, such as an `Apply`; or rights by name.
 */
export type RbacSource =
  | ControllerDefinition
  | { readonly controllers: readonly ({ readonly kind: KindRef } & Partial<RbacNeeds>)[] }
  | RbacNeeds
  | RbacNeed;

/** Options of {@link collectRbac}. */
export interface CollectRbacOptions {
  /** Kinds that are applied, made or deleted though no definition says `owns`. @default none */
  readonly writes?: readonly KindRef[];
  /** With a Lease for leader election or sharding. @default true */
  readonly leaderElection?: boolean;
  /**
   * With Events: in the namespaces of the objects that they are about, where the server requires them, or in that of
   * the program alone. @default true
   */
  readonly events?: boolean | 'ownNamespace';
}

export const collectRbacOptionNames = optionNames<CollectRbacOptions>({
  writes: true,
  leaderElection: true,
  events: true,
});

/**
 * The permissions that controllers need, by their registrations: to read and watch each kind, to change their own kind, its
 * status and finalizers, and to write owned kinds. For generating handlers and an `Apply`: to write the kinds that they name
 * (`writes`, `kinds`) and those applied so far, so that nothing is missing after a test that covers everything. Merged,
 * sorted and deduplicated. Declare what your code does beyond that.
 *
 * @example
 * collectRbac([foos, controllers, apply], { writes: [Deployment] });
 */
export function collectRbac(sources: Iterable<RbacSource>, options: CollectRbacOptions = {}): PolicyRule[] {
  refuseUnknownOptions('collectRbac', options, collectRbacOptionNames);
  const rights = new Rights();
  for (const source of sources) {
    if ('verbs' in source) rights.need([source]);
    else if ('rbacNeeds' in source) rights.need(source.rbacNeeds);
    else if (!('controllers' in source)) definitionRights(rights, source);
    else {
      for (const { kind, rbacNeeds = [] } of source.controllers) {
        ownRights(rights, kind);
        rights.need(rbacNeeds);
      }
    }
  }
  for (const kind of options.writes ?? []) rights.add(kind, writeVerbs);
  const own = new Rights();
  const { leaderElection = true, events = true } = options;
  if (leaderElection) own.add(Lease, ['create', 'get', 'patch', 'update']);
  // Leader election records Events about its Lease.
  if (events !== false) addEvents(own);
  if (events === true) addEvents(rights);
  return [...rights.rules(), ...own.rules().map((rule) => ({ ...rule, ownNamespace: true as const }))];
}

function addEvents(rights: Rights): void {
  for (const group of ['', 'events.k8s.io']) rights.add({ group, plural: 'events' }, ['create', 'patch']);
}

function definitionRights(rights: Rights, { kind, watches, reads, indexes }: ControllerDefinition): void {
  ownRights(rights, kind);
  for (const watch of watches) {
    if (!('kind' in watch)) continue;
    rights.add(watch.kind, watch.through === 'owns' ? writeVerbs : readVerbs);
  }
  for (const read of reads) rights.add(read, readVerbs);
  for (const index of indexes) rights.add(index.kind, readVerbs);
}

function ownRights(rights: Rights, kind: KindRef): void {
  rights.add(kind, [...readVerbs, ...changeVerbs]);
  // Where servers enforce it, who makes an object the owner of another one must be allowed to change its finalizers.
  rights.add(kind, ['update'], 'finalizers');
  if (kind.subresources.includes('status')) rights.add(kind, ['get', ...changeVerbs], 'status');
}

class Rights {
  /** Group, then resource. */
  readonly #verbs = new Map<string, Map<string, Set<string>>>();

  add({ group, plural }: Pick<KindRef, 'group' | 'plural'>, verbs: readonly string[], subresource?: string): void {
    const resources = this.#verbs.get(group) ?? new Map<string, Set<string>>();
    this.#verbs.set(group, resources);
    const name = subresource === undefined ? plural : `${plural}/${subresource}`;
    resources.set(name, new Set([...(resources.get(name) ?? []), ...verbs]));
  }

  need(needs: readonly RbacNeed[]): void {
    for (const { kind, verbs, subresource } of needs) this.add(kind, verbs, subresource);
  }

  /** Resources of one group with the same verbs share a rule. */
  rules(): PolicyRule[] {
    const rules = [...this.#verbs].flatMap(([group, resources]) => {
      const byVerbs = new Map<string, string[]>();
      for (const [name, verbs] of resources) {
        const id = [...verbs].sort(compareStrings).join(' ');
        byVerbs.set(id, [...(byVerbs.get(id) ?? []), name]);
      }
      return [...byVerbs].map(([verbs, names]): PolicyRule => {
        return { apiGroups: [group], resources: names.sort(compareStrings), verbs: verbs.split(' ') };
      });
    });
    const idOf = ({ apiGroups, resources }: PolicyRule) => `${apiGroups[0]} ${resources[0]}`;
    return rules.sort((a, b) => compareStrings(idOf(a), idOf(b)));
  }
}

/** Options of {@link rbacManifests}. */
export interface RbacManifestsOptions {
  /** Of all objects. */
  readonly name: string;
  /** Where the controller runs. */
  readonly namespace: string;
  /** Grant permissions in these namespaces only, by Roles, which exclude cluster-scoped kinds. @default everywhere */
  readonly namespaces?: readonly string[];
}

export const rbacManifestsOptionNames = optionNames<RbacManifestsOptions>({
  name: true,
  namespace: true,
  namespaces: true,
});

/**
 * A ServiceAccount, the roles that these rules make, and their bindings: objects to be applied or written as YAML. Rights
 * to Leases are given in the program's own namespace, by a Role.
 */
export function rbacManifests(rules: readonly PolicyRule[], options: RbacManifestsOptions): WriteObject[] {
  refuseUnknownOptions('rbacManifests', options, rbacManifestsOptionNames);
  const { name, namespace, namespaces } = options;
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  const apiGroup = 'rbac.authorization.k8s.io';
  const account = ServiceAccount({ metadata: { name, namespace } });
  const own = plain(rules.filter(({ ownNamespace }) => ownNamespace));
  const shared = plain(rules.filter(({ ownNamespace }) => !ownNamespace));
  const roleIn = (place: string, given: readonly PolicyRule[]) => [
    Role({ metadata: { name, namespace: place }, rules: given }),
    RoleBinding({ metadata: { name, namespace: place }, roleRef: { apiGroup, kind: 'Role', name }, subjects }),
  ];
  const ownRole = own.length === 0 ? [] : roleIn(namespace, own);
  if (namespaces === undefined) {
    return [
      account,
      ClusterRole({ metadata: { name }, rules: shared }),
      ClusterRoleBinding({ metadata: { name }, roleRef: { apiGroup, kind: 'ClusterRole', name }, subjects }),
      ...ownRole,
    ];
  }
  const isBoth = namespaces.includes(namespace);
  const roles = namespaces.flatMap((place) => roleIn(place, place === namespace ? merged(shared, own) : shared));
  return [account, ...roles, ...(isBoth ? [] : ownRole)];
}

/** Without what Kubernetes does not know. */
function plain(rules: readonly PolicyRule[]): PolicyRule[] {
  return rules.map(({ apiGroups, resources, verbs }) => ({ apiGroups, resources, verbs }));
}

function merged(...lists: readonly (readonly PolicyRule[])[]): PolicyRule[] {
  const rights = new Rights();
  for (const { apiGroups, resources, verbs } of lists.flat()) {
    for (const group of apiGroups) for (const plural of resources) rights.add({ group, plural }, verbs);
  }
  return rights.rules();
}
