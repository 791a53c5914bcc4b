import type { WriteObject } from '../../client/interfaces.js';
import type { ControllerDefinition } from '../../controller/definition.js';
import { ClusterRole, ClusterRoleBinding, Lease, Role, RoleBinding, ServiceAccount } from '../../kinds/index.js';
import { compareStrings } from '../../object/compare-strings.js';
import type { KindRef } from '../../object/kind.js';

/** What a role allows (`rbac/v1.PolicyRule`). */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** Rights for one kind that no definition tells of. */
export interface RbacNeed {
  readonly kind: KindRef;
  readonly verbs: readonly string[];
  /** @default the kind itself */
  readonly subresource?: string;
}

/** What rights are collected from: a definition, a factory of shared controllers, or rights by name. */
export type RbacSource =
  | ControllerDefinition
  | { readonly controllers: readonly { readonly kind: KindRef }[] }
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

const readVerbs = ['get', 'list', 'watch'];
const changeVerbs = ['patch', 'update'];
const writeVerbs = [...readVerbs, ...changeVerbs, 'create', 'delete'];

/**
 * The rights that controllers need by what they have registered: to read and watch each kind, to change their own and its
 * status and finalizers, to write what they own. Merged, sorted, each right once. What code does beyond its definition
 * has to be named.
 *
 * @example
 * collectRbac([foos, factory], { writes: [Deployment] });
 */
export function collectRbac(sources: Iterable<RbacSource>, options: CollectRbacOptions = {}): PolicyRule[] {
  const rights = new Rights();
  for (const source of sources) {
    if ('verbs' in source) rights.add(source.kind, source.verbs, source.subresource);
    else if ('controllers' in source) for (const { kind } of source.controllers) ownRights(rights, kind);
    else definitionRights(rights, source);
  }
  for (const kind of options.writes ?? []) rights.add(kind, writeVerbs);
  if (options.leaderElection !== false) rights.add(Lease, ['create', 'get', 'patch', 'update']);
  if (options.events !== false)
    for (const group of ['', 'events.k8s.io']) rights.add({ group, plural: 'events' }, ['create', 'patch']);
  return rights.rules();
}

function definitionRights(rights: Rights, { kind, watches, reads }: ControllerDefinition): void {
  ownRights(rights, kind);
  for (const watch of watches) {
    if (!('kind' in watch)) continue;
    rights.add(watch.kind, watch.through === 'owns' ? writeVerbs : readVerbs);
  }
  for (const read of reads) rights.add(read, readVerbs);
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

/** A ServiceAccount, the roles that these rules make, and their bindings: objects to be applied or written as YAML. */
export function rbacManifests(
  rules: readonly PolicyRule[],
  { name, namespace, namespaces }: RbacManifestsOptions,
): WriteObject[] {
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
