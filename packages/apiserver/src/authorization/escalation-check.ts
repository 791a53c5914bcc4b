import { equal, type JsonObject } from 'riata/object';
import type { UserInfo } from '../authentication/user-info.js';
import { metaOf, recordOf, recordsOf, textOf, withMeta } from '../resource/metadata.js';
import type { Resource } from '../resource/resource.js';
import { goQuote } from '../status/go-quote.js';
import { forbiddenWrite, notFound } from '../status/refusal.js';
import { resourceAttributes } from './attributes.js';
import { type Authorizer, aggregate, isPrivileged } from './authorizer.js';
import { goList, type PolicyRule, rulesOf, uncovered } from './policy-rule.js';
import type { RbacIndex, RoleRef } from './rbac-index.js';

const rbacGroup = 'rbac.authorization.k8s.io';
const roleKinds: readonly string[] = ['roles', 'clusterroles'];
const bindingKinds: readonly string[] = ['rolebindings', 'clusterrolebindings'];

const all = { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };
const fullAuthority: readonly PolicyRule[] = [
  { ...all, apiGroups: ['*'], resources: ['*'] },
  { ...all, nonResourceURLs: ['*'] },
];

/** A write of a role or a binding. */
export interface RbacWrite {
  readonly resource: Resource;
  readonly namespace: string;
  /** Of the request: `''` for a creation. */
  readonly name: string;
  readonly object: JsonObject;
  readonly before: JsonObject | undefined;
}

/**
 * Keeps users from giving rights that they don't have: by writing roles, unless they may `escalate`, and by binding them,
 * unless they may `bind`.
 */
export class EscalationCheck {
  readonly #authorizer: Authorizer;
  readonly #rbac: RbacIndex;

  constructor(authorizer: Authorizer, rbac: RbacIndex) {
    this.#authorizer = authorizer;
    this.#rbac = rbac;
  }

  /** Throws 403, and 404 for a binding to a role that is not there. Other kinds pass. */
  check(user: UserInfo, write: RbacWrite): void {
    const { group, plural } = write.resource;
    if (group !== rbacGroup || isPrivileged(user)) return;
    const isRole = roleKinds.includes(plural);
    if (!isRole && !bindingKinds.includes(plural)) return;
    const { object, before } = write;
    if (isRole && this.#mayEscalate(user, write)) return;
    if (before !== undefined && isForCollector(object, before)) return;
    if (isRole) this.#checkRole(user, write);
    else this.#checkBinding(user, write);
  }

  #mayEscalate(user: UserInfo, { resource, namespace, name }: RbacWrite): boolean {
    const { group, plural } = resource;
    return this.#authorizer.isAllowed(
      resourceAttributes(user, { verb: 'escalate', group, resource: plural, namespace, name }),
    );
  }

  #checkRole(user: UserInfo, { resource, namespace, object, before }: RbacWrite): void {
    const name = textOf(metaOf(object).name);
    const problem = this.#escalation(user, resource, namespace, rulesOf(object.rules));
    if (problem !== undefined) throw forbiddenWrite(resource, name, problem);
    if (!aggregates(object) && (before === undefined || !aggregates(before))) return;
    if (this.#escalation(user, resource, namespace, fullAuthority) === undefined) return;
    throw forbiddenWrite(resource, name, 'must have cluster-admin privileges to use the aggregationRule');
  }

  #checkBinding(user: UserInfo, { resource, namespace, object }: RbacWrite): void {
    const { kind, name, apiGroup } = recordOf(object.roleRef);
    const role: RoleRef = { kind: textOf(kind), name: textOf(name) };
    const plural = role.kind === 'ClusterRole' ? 'clusterroles' : 'roles';
    const bind = { verb: 'bind', group: textOf(apiGroup), resource: plural, namespace, name: role.name };
    const isKnown = role.kind === 'ClusterRole' || role.kind === 'Role';
    if (isKnown && this.#authorizer.isAllowed(resourceAttributes(user, bind))) return;
    const rules = this.#rbac.rulesOfRole(role, namespace);
    if (rules === undefined && !isKnown) throw new Error(`unsupported role reference kind: ${goQuote(role.kind)}`);
    // Upstream calls it by the resource of the request.
    if (rules === undefined) throw notFound(resource, role.name);
    const problem = this.#escalation(user, resource, namespace, rules);
    if (problem !== undefined) throw forbiddenWrite(resource, textOf(metaOf(object).name), problem);
  }

  /** Which of the rules a user does not hold itself; undefined if it holds them all. */
  #escalation(
    user: UserInfo,
    { plural }: Resource,
    namespace: string,
    rules: readonly PolicyRule[],
  ): string | undefined {
    const { rules: held, missing } = this.#rbac.rulesFor(user, namespace);
    const lacking = uncovered(held, rules);
    if (lacking.length === 0) return undefined;
    const who = `user ${goQuote(user.username)} (groups=${goList(user.groups ?? [])})`;
    const errors = missing.map(({ name }) => `${plural}.${rbacGroup} ${goQuote(name)} not found`);
    const resolution = errors.length === 0 ? '' : `; resolution errors: [${aggregate(errors)}]`;
    return `${who} is attempting to grant RBAC permissions not currently held:\n${lacking.join('\n')}${resolution}`;
  }
}

function aggregates({ aggregationRule }: JsonObject): boolean {
  return recordsOf(recordOf(aggregationRule).clusterRoleSelectors).length > 0;
}

/** Whether a write changes nothing but what the garbage collector has to change. */
function isForCollector(object: JsonObject, before: JsonObject): boolean {
  const { ownerReferences, finalizers, managedFields } = metaOf(before);
  return equal(withMeta(object, { ownerReferences, finalizers, managedFields }), withMeta(before, {}));
}
