import { optionNames, refuseUnknownOptions } from 'riata/runtime';
import { parseServiceAccountUser, serviceAccountGroups, serviceAccountUser } from './service-account-name.js';
import type { UserInfo } from './user-info.js';

/** A user, as it could show by a certificate or a token. */
export interface UserIdentity {
  readonly user: string;
  /** `system:authenticated` is added. @default none */
  readonly groups?: readonly string[];
  /** @default none */
  readonly uid?: string;
  /** @default none */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export const userIdentityNames = optionNames<UserIdentity>({ user: true, groups: true, uid: true, extra: true });

/** A ServiceAccount. */
export interface ServiceAccountIdentity {
  readonly serviceAccount: string;
  readonly namespace: string;
}

export const serviceAccountIdentityNames = optionNames<ServiceAccountIdentity>({
  serviceAccount: true,
  namespace: true,
});

/** The user that an identity stands for. Throws a `TypeError` for what can be none. */
export function userInfoOf(who: string, identity: UserIdentity | ServiceAccountIdentity): UserInfo {
  if ('serviceAccount' in identity) {
    refuseUnknownOptions(who, identity, serviceAccountIdentityNames);
    const { serviceAccount, namespace } = identity;
    const username = serviceAccountUser(namespace, serviceAccount);
    if (parseServiceAccountUser(username) === undefined) {
      const given = JSON.stringify(`${namespace}/${serviceAccount}`);
      throw new TypeError(`${who}: ${given} is not the namespace and name of a ServiceAccount`);
    }
    return { username, groups: serviceAccountGroups(namespace) };
  }
  refuseUnknownOptions(who, identity, userIdentityNames);
  const { user: username, groups = [], uid, extra } = identity;
  if (typeof username !== 'string' || username === '') {
    throw new TypeError(`${who}: user must be a name, got ${JSON.stringify(username)}`);
  }
  return { username, groups: [...groups], ...(uid !== undefined && { uid }), ...(extra !== undefined && { extra }) };
}

/** Users by their tokens. */
export function identitiesOf(tokens: Readonly<Record<string, UserIdentity>>): Record<string, UserInfo> {
  const users = Object.entries(tokens).map(([token, identity]) => [token, userInfoOf('tokens', identity)]);
  return Object.fromEntries(users) as Record<string, UserInfo>;
}
