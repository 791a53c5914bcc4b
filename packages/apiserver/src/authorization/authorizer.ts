import { privilegedGroup, type UserInfo } from '../authentication/user-info.js';
import { goQuote } from '../status/go-quote.js';
import { forbiddenWrite, Refusal } from '../status/refusal.js';
import type { Attributes } from './attributes.js';
import { allows } from './policy-rule.js';
import type { RbacIndex, RoleRef } from './rbac-index.js';

/** Whether something is allowed, and why. */
export interface Decision {
  readonly allowed: boolean;
  /** `''` where there is nothing to say. */
  readonly reason: string;
}

const allowed: Decision = { allowed: true, reason: '' };
const denied: Decision = { allowed: false, reason: '' };

/** Decides who may do what: members of `system:masters` everything, all others what roles allow. */
export class Authorizer {
  readonly #rbac: RbacIndex;

  constructor(rbac: RbacIndex) {
    this.#rbac = rbac;
  }

  decide(expected: Attributes): Decision {
    if (isPrivileged(expected.user)) return allowed;
    let reason: string | undefined;
    let missing: RoleRef[] | undefined;
    this.#rbac.visit(expected.user, expected.namespace, {
      rule(rule, source) {
        if (!allows(rule, expected)) return false;
        reason = `RBAC: allowed by ${source()}`;
        return true;
      },
      missing(role) {
        missing ??= [];
        missing.push(role);
      },
    });
    if (reason !== undefined) return { allowed: true, reason };
    return missing === undefined ? denied : { allowed: false, reason: `RBAC: ${aggregate(missing.map(notThere))}` };
  }

  isAllowed(expected: Attributes): boolean {
    return this.decide(expected).allowed;
  }

  /** Throws 403 for what is not allowed. */
  check(expected: Attributes): void {
    if (isPrivileged(expected.user)) return;
    const { allowed, reason } = this.decide(expected);
    if (!allowed) throw forbidden(expected, reason);
  }
}

/** Whether a user may do everything, escalate too. */
export function isPrivileged({ groups }: UserInfo): boolean {
  return groups?.includes(privilegedGroup) === true;
}

/** The 403 for a denied request, in upstream's words. */
export function forbidden(expected: Attributes, reason: string): Refusal {
  const why = reason === '' ? withoutTags(messageOf(expected)) : `${withoutTags(messageOf(expected))}: ${reason}`;
  const { group, resource: plural, name } = expected;
  const headers = { 'x-content-type-options': 'nosniff' };
  if (group === '' && plural === '') {
    return new Refusal(403, 'Forbidden', `forbidden: ${why}`, name === '' ? {} : { name }, { headers });
  }
  return forbiddenWrite({ group, plural, kind: '' }, name, why, undefined, headers);
}

function messageOf({ user, verb, isResource, path, group, resource, subresource, namespace }: Attributes): string {
  const who = `User ${goQuote(user.username)} cannot ${verb}`;
  if (!isResource) return `${who} path ${goQuote(path)}`;
  const what = goQuote(subresource === '' ? resource : `${resource}/${subresource}`);
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(namespace)}`;
  return `${who} resource ${what} in API group ${goQuote(group)} ${where}`;
}

/** Nothing in a message may read as HTML. */
function withoutTags(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Several errors as one text (`errors.NewAggregate`). */
export function aggregate(texts: readonly string[]): string {
  const different = [...new Set(texts)];
  return different.length === 1 ? (different[0] ?? '') : `[${different.join(', ')}]`;
}

/** How the authorizer calls a role that is not there. */
export function notThere({ kind, name }: RoleRef): string {
  if (kind !== 'Role' && kind !== 'ClusterRole') return `unsupported role reference kind: ${goQuote(kind)}`;
  return `${kind.toLowerCase()}.rbac.authorization.k8s.io ${goQuote(name)} not found`;
}
