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
  /** Of the objects. @default any */
  readonly resourceNames?: readonly string[];
  /** In the namespace of the program alone, e.g. for its Lease; for {@link rbacManifests}. @default wherever it works */
  readonly ownNamespace?: true;
  /** For objects beside the namespaces that have to be granted even where {@link rbacManifests} makes Roles. @default false */
  readonly clusterWide?: true;
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
  const own = new Rights();
  const need = (needs: readonly RbacNeed[]) => {
    rights.need(needs.filter(({ ownNamespace }) => !ownNamespace));
    own.need(needs.filter(({ ownNamespace }) => ownNamespace));
  };
  for (const source of sources) {
    if ('verbs' in source) need([source]);
    else if ('rbacNeeds' in source) need(source.rbacNeeds);
    else if ('targets' in source) throw new TypeError(webhookProblem(source));
    else if (!('controllers' in source)) definitionRights(rights, source);
    else {
      for (const { kind, rbacNeeds = [] } of source.controllers) {
        ownRights(rights, kind);
        need(rbacNeeds);
      }
    }
  }
  for (const kind of options.writes ?? []) rights.add(kind, writeVerbs);
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

/** The rights of a webhook depend on how it is served. */
function webhookProblem({ name }: object & { readonly name?: string }): string {
  return `collectRbac: "${name}" is a webhook; give webhookRights([${name}], { name, namespace }) instead`;
}

interface Right {
  readonly resource: string;
  readonly names: readonly string[] | undefined;
  readonly isClusterWide: boolean;
  readonly verbs: Set<string>;
}

class Rights {
  /** Group, then resource and the names of objects. */
  readonly #rights = new Map<string, Map<string, Right>>();

  add({ group, plural }: Pick<KindRef, 'group' | 'plural'>, verbs: readonly string[], subresource?: string): void {
    this.#add(group, subresource === undefined ? plural : `${plural}/${subresource}`, verbs, undefined, false);
  }

  need(needs: readonly RbacNeed[]): void {
    for (const { kind, verbs, subresource, names } of needs) {
      const resource = subresource === undefined ? kind.plural : `${kind.plural}/${subresource}`;
      this.#add(kind.group, resource, verbs, names, names !== undefined && kind.scope === 'Cluster');
    }
  }

  /** Those of a rule again. */
  addRule({ apiGroups, resources, verbs, resourceNames, clusterWide }: PolicyRule): void {
    for (const group of apiGroups) {
      for (const resource of resources) this.#add(group, resource, verbs, resourceNames, clusterWide === true);
    }
  }

  #add(
    group: string,
    resource: string,
    verbs: readonly string[],
    given: readonly string[] | undefined,
    isClusterWide: boolean,
  ): void {
    const rights = this.#rights.get(group) ?? new Map<string, Right>();
    this.#rights.set(group, rights);
    const names = given === undefined ? undefined : [...new Set(given)].sort(compareStrings);
    const id = JSON.stringify([resource, names]);
    const known = rights.get(id);
    rights.set(id, { resource, names, isClusterWide, verbs: new Set([...(known?.verbs ?? []), ...verbs]) });
  }

  /** Resources of one group with the same verbs share a rule. */
  rules(): PolicyRule[] {
    const rules = [...this.#rights].flatMap(([group, rights]) => {
      const alike = new Map<string, Right[]>();
      for (const right of rights.values()) {
        const id = JSON.stringify([[...right.verbs].sort(compareStrings), right.names, right.isClusterWide]);
        alike.set(id, [...(alike.get(id) ?? []), right]);
      }
      return [...alike.values()].map((same): PolicyRule => {
        const [{ names, verbs, isClusterWide }] = same as [Right];
        return {
          apiGroups: [group],
          resources: same.map(({ resource }) => resource).sort(compareStrings),
          verbs: [...verbs].sort(compareStrings),
          ...(names && { resourceNames: names }),
          ...(isClusterWide && { clusterWide: true as const }),
        };
      });
    });
    const idOf = ({ apiGroups, resources, resourceNames = [] }: PolicyRule) =>
      `${apiGroups[0]} ${resources[0]} ${resourceNames.join(' ')}`;
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
  const clusterRole = (given: readonly PolicyRule[]) => [
    ClusterRole({ metadata: { name }, rules: given }),
    ClusterRoleBinding({ metadata: { name }, roleRef: { apiGroup, kind: 'ClusterRole', name }, subjects }),
  ];
  const ownRole = own.length === 0 ? [] : roleIn(namespace, own);
  if (namespaces === undefined) {
    return [account, ...clusterRole(shared), ...ownRole];
  }
  const isBoth = namespaces.includes(namespace);
  const everywhere = plain(rules.filter(({ clusterWide }) => clusterWide));
  const placed = plain(rules.filter(({ ownNamespace, clusterWide }) => !ownNamespace && !clusterWide));
  const roles = namespaces.flatMap((place) => roleIn(place, place === namespace ? merged(placed, own) : placed));
  return [account, ...(everywhere.length === 0 ? [] : clusterRole(everywhere)), ...roles, ...(isBoth ? [] : ownRole)];
}

/** Without what Kubernetes does not know. */
function plain(rules: readonly PolicyRule[]): PolicyRule[] {
  return rules.map(({ apiGroups, resources, verbs, resourceNames }) => ({
    ...{ apiGroups, resources, verbs },
    ...(resourceNames && { resourceNames }),
  }));
}

function merged(...lists: readonly (readonly PolicyRule[])[]): PolicyRule[] {
  const rights = new Rights();
  for (const rule of lists.flat()) rights.addRule(rule);
  return rights.rules();
}
