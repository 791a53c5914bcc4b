import { dnsLabel, dnsSubdomain } from '../../schema/name-rules.js';
import { CelError, noSuchOverload } from '../language/cel-error.js';
import { boolType, type CelType, opaque, stringType } from '../language/cel-type.js';
import { type Functions, member } from '../language/overload.js';
import type { OpaqueValue } from '../language/value.js';

/** The user; as `authentication.k8s.io/v1` `UserInfo`. */
export interface AccessUser {
  readonly username: string;
  readonly groups?: readonly string[];
}

/** An expression's question to the server's authorizer (`authorizer.Attributes`). */
export interface AccessQuestion<User extends AccessUser = AccessUser> {
  readonly user: User;
  readonly verb: string;
  readonly isResource: boolean;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
}

/** Answers a question about access. */
export type DecideAccess = (question: AccessQuestion) => { readonly allowed: boolean; readonly reason: string };

export const authorizerType = opaque('kubernetes.authorization.Authorizer');
export const resourceCheckType = opaque('kubernetes.authorization.ResourceCheck');
const pathCheckType = opaque('kubernetes.authorization.PathCheck');
const groupCheckType = opaque('kubernetes.authorization.GroupCheck');
const decisionType = opaque('kubernetes.authorization.Decision');

/** Values that only functions can do something with. */
abstract class Receiver implements OpaqueValue {
  readonly isOpaque = true;
  abstract readonly typeName: string;

  equals(): boolean {
    throw noSuchOverload();
  }
}

/** The authorizer, as `authorizer` names it: it answers for one user. */
export class AuthorizerValue extends Receiver {
  readonly typeName = 'kubernetes.authorization.Authorizer';
  readonly user: AccessUser;
  readonly decide: DecideAccess;

  constructor(user: AccessUser, decide: DecideAccess) {
    super();
    this.user = user;
    this.decide = decide;
  }
}

type Place = Pick<AccessQuestion, 'group' | 'resource' | 'subresource' | 'namespace' | 'name'>;

/** A question about a resource that lacks its verb, e.g. `authorizer.requestResource`. */
export class ResourceCheckValue extends Receiver {
  readonly typeName = 'kubernetes.authorization.ResourceCheck';
  readonly authorizer: AuthorizerValue;
  readonly place: Place;

  constructor(authorizer: AuthorizerValue, place: Place) {
    super();
    this.authorizer = authorizer;
    this.place = place;
  }

  with(change: Partial<Place>): ResourceCheckValue {
    return new ResourceCheckValue(this.authorizer, { ...this.place, ...change });
  }

  check(verb: string): DecisionValue {
    const { user, decide } = this.authorizer;
    return new DecisionValue(decide({ user, verb, isResource: true, path: '', ...this.place }));
  }
}

class PathCheckValue extends Receiver {
  readonly typeName = 'kubernetes.authorization.PathCheck';
  readonly #authorizer: AuthorizerValue;
  readonly #path: string;

  constructor(authorizer: AuthorizerValue, path: string) {
    super();
    this.#authorizer = authorizer;
    this.#path = path;
  }

  check(verb: string): DecisionValue {
    const { user, decide } = this.#authorizer;
    const nowhere = { group: '', resource: '', subresource: '', namespace: '', name: '' };
    return new DecisionValue(decide({ user, verb, isResource: false, path: this.#path, ...nowhere }));
  }
}

class GroupCheckValue extends Receiver {
  readonly typeName = 'kubernetes.authorization.GroupCheck';
  readonly authorizer: AuthorizerValue;
  readonly group: string;

  constructor(authorizer: AuthorizerValue, group: string) {
    super();
    this.authorizer = authorizer;
    this.group = group;
  }
}

class DecisionValue extends Receiver {
  readonly typeName = 'kubernetes.authorization.Decision';
  readonly decision: ReturnType<DecideAccess>;

  constructor(decision: ReturnType<DecideAccess>) {
    super();
    this.decision = decision;
  }
}

type Call = Parameters<typeof member>[3];

const on = (id: string, self: CelType, result: CelType, args: readonly CelType[], call: Call) =>
  member(id, [self, ...args], result, call);

/** Questions to the server's authorizer, for expressions of admission. */
export const authorization: Functions = {
  path: [
    on('authorizer_path', authorizerType, pathCheckType, [stringType], (of: AuthorizerValue, path: string) => {
      if (path.trim() === '') throw new CelError('path must not be empty');
      return new PathCheckValue(of, path);
    }),
  ],
  group: [
    on(
      'authorizer_group',
      authorizerType,
      groupCheckType,
      [stringType],
      (of: AuthorizerValue, group: string) => new GroupCheckValue(of, group),
    ),
  ],
  serviceAccount: [
    on('authorizer_serviceaccount', authorizerType, authorizerType, [stringType, stringType], asServiceAccount),
  ],
  resource: [
    on(
      'groupcheck_resource',
      groupCheckType,
      resourceCheckType,
      [stringType],
      ({ authorizer, group }: GroupCheckValue, resource: string) => {
        if (resource.trim() === '') throw new CelError('resource must not be empty');
        return new ResourceCheckValue(authorizer, { group, resource, subresource: '', namespace: '', name: '' });
      },
    ),
  ],
  subresource: [narrowing('resourcecheck_subresource', (subresource) => ({ subresource }))],
  namespace: [narrowing('resourcecheck_namespace', (namespace) => ({ namespace }))],
  name: [narrowing('resourcecheck_name', (name) => ({ name }))],
  // Roles know no selectors: they change no answer.
  fieldSelector: [narrowing('authorizer_fieldselector', () => ({}))],
  labelSelector: [narrowing('authorizer_labelselector', () => ({}))],
  check: [
    on('pathcheck_check', pathCheckType, decisionType, [stringType], checked),
    on('resourcecheck_check', resourceCheckType, decisionType, [stringType], checked),
  ],
  errored: [on('decision_errored', decisionType, boolType, [], () => false)],
  error: [on('decision_error', decisionType, stringType, [], () => '')],
  allowed: [on('decision_allowed', decisionType, boolType, [], (of: DecisionValue) => of.decision.allowed)],
  reason: [on('decision_reason', decisionType, stringType, [], (of: DecisionValue) => of.decision.reason)],
};

function checked(of: PathCheckValue | ResourceCheckValue, verb: string): DecisionValue {
  return of.check(verb);
}

function narrowing(id: string, change: (text: string) => Partial<Place>) {
  const call = (of: ResourceCheckValue, text: string) => of.with(change(text));
  return on(id, resourceCheckType, resourceCheckType, [stringType], call);
}

function asServiceAccount(of: AuthorizerValue, namespace: string, name: string): AuthorizerValue {
  if (dnsSubdomain(name).length > 0) throw new CelError('Invalid service account name');
  if (dnsLabel(namespace).length > 0) throw new CelError('Invalid service account namespace');
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return new AuthorizerValue({ username: `system:serviceaccount:${namespace}:${name}`, groups }, of.decide);
}
