import type { JsonObject } from 'riata/object';

/** Who a request comes from, as reviews show it (`authentication.k8s.io/v1` `UserInfo`). */
export interface UserInfo extends JsonObject {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Members may do everything, whatever roles say. */
export const privilegedGroup = 'system:masters';
export const authenticatedGroup = 'system:authenticated';
export const unauthenticatedGroup = 'system:unauthenticated';
export const anonymousName = 'system:anonymous';

/** The user of the server's own token. */
export const administrator: UserInfo = { username: 'riata-admin', groups: [privilegedGroup, authenticatedGroup] };

/** The user without credentials. */
export const anonymous: UserInfo = { username: anonymousName, groups: [unauthenticatedGroup] };

/** The key under which a user's `extra` names the credential that it showed. */
export const credentialIdKey = 'authentication.kubernetes.io/credential-id';

/** Adds the group of all who have shown a valid credential. */
export function authenticated(user: UserInfo): UserInfo {
  const { groups = [] } = user;
  if (user.username === anonymousName || groups.includes(authenticatedGroup) || groups.includes(unauthenticatedGroup)) {
    return user;
  }
  return { ...user, groups: [...groups, authenticatedGroup] };
}
