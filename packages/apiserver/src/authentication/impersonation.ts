import { type Attributes, resourceAttributes } from '../authorization/attributes.js';
import { type Authorizer, forbidden } from '../authorization/authorizer.js';
import type { ServerRequest } from '../http/server-request.js';
import { dnsSubdomain } from '../schema/name-rules.js';
import { goQuote } from '../status/go-quote.js';
import { badRequest, type Refusal } from '../status/refusal.js';
import { extraProblem } from './extra-problem.js';
import { parseServiceAccountUser, serviceAccountGroups } from './service-account-name.js';
import { anonymousName, authenticated, privilegedGroup, type UserInfo, unauthenticatedGroup } from './user-info.js';

/** The identity that a request impersonates, by its headers. */
interface ImpersonatedUser {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** A constrained impersonation mode: a verb of its own, for certain users. */
interface Mode {
  /** `''` for the oldest one, whose verb is plain `impersonate`. */
  readonly name: string;
  applies(target: ImpersonatedUser, requestor: UserInfo): boolean;
}

/** In the order in which they are tried. */
const modes: readonly Mode[] = [
  { name: 'associated-node', applies: (target, requestor) => isOnlyNamed(target) && isOwnNode(target.name, requestor) },
  { name: 'arbitrary-node', applies: (target) => isOnlyNamed(target) && nodeOf(target.name) !== undefined },
  {
    name: 'serviceaccount',
    applies: (target) => isOnlyNamed(target) && parseServiceAccountUser(target.name) !== undefined,
  },
  {
    name: 'user-info',
    applies: ({ name }) => nodeOf(name) === undefined && parseServiceAccountUser(name) === undefined,
  },
  { name: '', applies: () => true },
];

const authenticationGroup = 'authentication.k8s.io';
/** With so many groups or extras, a right to all of them is looked for first. */
const many = 4;
const rememberedUsers = 10_000;

/** Hears whom a request acts as. */
export interface ImpersonationObserver {
  /** @param constraint the verb of a constrained mode that allowed it; `''` for plain impersonation */
  impersonates(user: UserInfo, constraint: string): void;
}

/** Lets requests act as another user, where roles allow it (`WithConstrainedImpersonation`). */
export class Impersonation {
  readonly #authorizer: Authorizer;
  /** Which mode a user was allowed by last: it is tried first, and what it says counts. */
  readonly #lastModes = new Map<string, Mode>();

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer;
  }

  /** The user that a request acts as: its own, unless headers name another. Throws 400 and 403. */
  actingUser(request: ServerRequest, attributes: Attributes, observer?: ImpersonationObserver): UserInfo {
    const headers = request.impersonation;
    if (headers === undefined) return attributes.user;
    const target = impersonatedUser(headers);
    return target === undefined ? attributes.user : this.#impersonated(target, attributes, observer);
  }

  #impersonated(target: ImpersonatedUser, attributes: Attributes, observer?: ImpersonationObserver): UserInfo {
    const { username } = attributes.user;
    const last = this.#lastModes.get(username);
    const tried = last === undefined ? modes : [last, ...modes.filter((mode) => mode !== last)];
    let problem: Refusal | undefined;
    for (const mode of tried) {
      if (!mode.applies(target, attributes.user)) continue;
      const result = this.#try(mode, target, attributes);
      if ('user' in result) {
        if (this.#lastModes.size >= rememberedUsers) this.#lastModes.clear();
        this.#lastModes.set(username, mode);
        observer?.impersonates(result.user, mode.name === '' ? '' : `impersonate:${mode.name}`);
        return result.user;
      }
      problem ??= result.problem;
    }
    throw problem;
  }

  #try(mode: Mode, target: ImpersonatedUser, attributes: Attributes): { user: UserInfo } | { problem: Refusal } {
    const isConstrained = mode.name !== '';
    const verb = isConstrained ? `impersonate:${mode.name}` : 'impersonate';
    const group = isConstrained ? authenticationGroup : '';
    const requestor = attributes.user;
    if (isConstrained) {
      const on = { ...attributes, verb: `impersonate-on:${mode.name}:${attributes.verb}` };
      const problem = this.#problemOf(on);
      if (problem !== undefined) return { problem };
    }
    const named = userAttributes(target.name, resourceAttributes(requestor, { verb, group, resource: 'users' }), mode);
    const uid = resourceAttributes(requestor, { verb, group: authenticationGroup, resource: 'uids', name: target.uid });
    const problem =
      this.#problemOf(named) ??
      (target.uid === '' ? undefined : this.#problemOf(uid)) ??
      this.#groupsProblem(resourceAttributes(requestor, { verb, group, resource: 'groups' }), target, isConstrained) ??
      this.#extraProblem(requestor, verb, target, isConstrained);
    return problem === undefined ? { user: actualUser(target, isConstrained) } : { problem };
  }

  #groupsProblem(attributes: Attributes, { groups }: ImpersonatedUser, isConstrained: boolean): Refusal | undefined {
    if (isConstrained && groups.includes('')) {
      return forbidden(attributes, 'impersonating the empty string group is not allowed');
    }
    if (isConstrained && groups.includes(privilegedGroup)) {
      const why = 'impersonating the system:masters group is not allowed';
      return forbidden({ ...attributes, name: privilegedGroup }, why);
    }
    if (isConstrained && groups.length >= many && this.#authorizer.isAllowed({ ...attributes, name: '*' })) {
      return undefined;
    }
    return this.#firstProblem(groups.map((name) => ({ ...attributes, name })));
  }

  #extraProblem(
    user: UserInfo,
    verb: string,
    { extra }: ImpersonatedUser,
    isConstrained: boolean,
  ): Refusal | undefined {
    const attributes = resourceAttributes(user, { verb, group: authenticationGroup, resource: 'userextras' });
    const pairs = Object.entries(extra).flatMap(([key, values]) => values.map((value) => [key, value] as const));
    if (isConstrained) {
      const problem = extraProblem(extra);
      if (problem !== undefined) return forbidden(attributes, problem);
      const isLarge = Math.max(Object.keys(extra).length, pairs.length) >= many;
      if (isLarge && this.#authorizer.isAllowed({ ...attributes, subresource: '*', name: '*' })) return undefined;
    }
    return this.#firstProblem(pairs.map(([subresource, name]) => ({ ...attributes, subresource, name })));
  }

  #firstProblem(all: readonly Attributes[]): Refusal | undefined {
    for (const attributes of all) {
      const problem = this.#problemOf(attributes);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #problemOf(attributes: Attributes): Refusal | undefined {
    const { allowed, reason } = this.#authorizer.decide(attributes);
    return allowed ? undefined : forbidden(attributes, reason);
  }
}

/** Nodes and ServiceAccounts are impersonated as the objects that they are. */
function userAttributes(username: string, attributes: Attributes, mode: Mode): Attributes {
  const account = parseServiceAccountUser(username);
  if (account !== undefined) return { ...attributes, resource: 'serviceaccounts', ...account };
  const node = mode.name === '' ? undefined : nodeOf(username);
  if (node === undefined) return { ...attributes, name: username };
  return { ...attributes, resource: 'nodes', name: mode.name === 'associated-node' ? '*' : node };
}

function actualUser({ name: username, uid, groups, extra }: ImpersonatedUser, isConstrained: boolean): UserInfo {
  const account = parseServiceAccountUser(username);
  const known =
    isConstrained && nodeOf(username) !== undefined
      ? ['system:nodes']
      : account !== undefined && groups.length === 0
        ? serviceAccountGroups(account.namespace)
        : groups;
  const user = {
    username,
    ...(uid === '' ? {} : { uid }),
    groups: known,
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
  if (username !== anonymousName) return authenticated(user);
  return known.includes(unauthenticatedGroup) ? user : { ...user, groups: [...known, unauthenticatedGroup] };
}

const extraPrefix = 'impersonate-extra-';

function impersonatedUser(headers: NonNullable<ServerRequest['impersonation']>): ImpersonatedUser | undefined {
  const [name = ''] = headers['impersonate-user'] ?? [];
  const [uid = ''] = headers['impersonate-uid'] ?? [];
  const groups = headers['impersonate-group'] ?? [];
  const values = new Map<string, readonly string[]>();
  for (const [header, lines] of Object.entries(headers)) {
    if (!header.startsWith(extraPrefix)) continue;
    const key = unescaped(header.slice(extraPrefix.length));
    values.set(key, [...(values.get(key) ?? []), ...lines]);
  }
  const extra = Object.fromEntries(values);
  const target = { name, uid, groups, extra };
  if (name !== '') return target;
  if (uid === '' && groups.length === 0 && Object.keys(extra).length === 0) return undefined;
  throw badRequest(`requested ${goStruct(target)} without impersonating a user name`);
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** As Go prints it (`%#v`). */
function goStruct({ name, uid, groups, extra }: ImpersonatedUser): string {
  const list = (texts: readonly string[]) => `[]string{${texts.map((text) => goQuote(text)).join(', ')}}`;
  const keys = Object.keys(extra).sort();
  const pairs = keys.map((key) => `${goQuote(key)}:${list(extra[key] ?? [])}`);
  const shownGroups = groups.length === 0 ? '[]string(nil)' : list(groups);
  const shownExtra = keys.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${pairs.join(', ')}}`;
  const fields = `Name:${goQuote(name)}, UID:${goQuote(uid)}, Groups:${shownGroups}, Extra:${shownExtra}`;
  return `&user.DefaultInfo{${fields}}`;
}

function isOnlyNamed({ uid, groups, extra }: ImpersonatedUser): boolean {
  return uid === '' && groups.length === 0 && Object.keys(extra).length === 0;
}

function nodeOf(username: string): string | undefined {
  const prefix = 'system:node:';
  const name = username.startsWith(prefix) ? username.slice(prefix.length) : '';
  return name !== '' && dnsSubdomain(name).length === 0 ? name : undefined;
}

/** Whether a ServiceAccount's token comes from a Pod on the node of this name. */
function isOwnNode(username: string, requestor: UserInfo): boolean {
  const node = nodeOf(username);
  if (node === undefined || parseServiceAccountUser(requestor.username) === undefined) return false;
  const values = requestor.extra?.['authentication.kubernetes.io/node-name'] ?? [];
  return values.length === 1 && values[0] === node;
}
