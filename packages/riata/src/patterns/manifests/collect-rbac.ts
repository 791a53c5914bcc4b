import type { WriteObject } from '../../client/interfaces.js';
import type { ControllerDefinition } from '../../controller/define/controller-definition.js';
import { ClusterRole, ClusterRoleBinding, Lease, Role, RoleBinding, ServiceAccount } from '../../kinds/index.js';
import { compareStrings } from '../../object/compare-strings.js';
import type { KindRef } from '../../object/kind.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { changeVerbs, type RbacNeed, type RbacNeeds, readVerbs, writeVerbs } from '../../shared/rbac-need.js';

/** What a role allows (`rbac/v1.PolicyRule`). */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * What rights are collected from: a definition; a factory of shared controllers, or `Controllers` over it; what knows
 * itself what it needs, such as an `Apply`; or rights by name.
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
  /** With Events. @default true */
  readonly events?: boolean;
}

export const collectRbacOptionNames = optionNames<CollectRbacOptions>({
  writes: true,
  leaderElection: true,
  events: true,
});

/**
 * The rights that controllers need by what they have registered: to read and watch each kind, to change their own and its
 * status and finalizers, to write what they own. Of generating handlers and an `Apply`: to write the kinds that they name
 * (`writes`, `kinds`), and those that were applied so far, so that after a test in which all of it happened nothing is
 * left out. Merged, sorted, each right once. What code does beyond that has to be named.
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
  if (options.leaderElection !== false) rights.add(Lease, ['create', 'get', 'patch', 'update']);
  if (options.events !== false)
    for (const group of ['', 'events.k8s.io']) rights.add({ group, plural: 'events' }, ['create', 'patch']);
  return rights.rules();
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
  /** Rights in these namespaces alone, by Roles; kinds beside the namespaces cannot be had then. @default everywhere */
  readonly namespaces?: readonly string[];
}

export const rbacManifestsOptionNames = optionNames<RbacManifestsOptions>({
  name: true,
  namespace: true,
  namespaces: true,
});

/** A ServiceAccount, the roles that these rules make, and their bindings: objects to be applied or written as YAML. */
export function rbacManifests(rules: readonly PolicyRule[], options: RbacManifestsOptions): WriteObject[] {
  refuseUnknownOptions('rbacManifests', options, rbacManifestsOptionNames);
  const { name, namespace, namespaces } = options;
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  const apiGroup = 'rbac.authorization.k8s.io';
  const account = ServiceAccount({ metadata: { name, namespace } });
  if (namespaces === undefined) {
    const roleRef = { apiGroup, kind: 'ClusterRole', name };
    return [
      account,
      ClusterRole({ metadata: { name }, rules }),
      ClusterRoleBinding({ metadata: { name }, roleRef, subjects }),
    ];
  }
  const roleRef = { apiGroup, kind: 'Role', name };
  const roles = namespaces.flatMap((place) => [
    Role({ metadata: { name, namespace: place }, rules }),
    RoleBinding({ metadata: { name, namespace: place }, roleRef, subjects }),
  ]);
  return [account, ...roles];
}
