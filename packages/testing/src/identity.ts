import type { ServiceAccountIdentity, UserIdentity } from '@riata/apiserver';
import type { Impersonation } from 'riata/rest';

/** A user, or a ServiceAccount, that code of a test acts as. */
export type Identity = UserIdentity | ServiceAccountIdentity;

/** The impersonation headers of requests, for any server whose administrator may impersonate. */
export function impersonationOf(identity: Identity): Impersonation {
  // The groups of a ServiceAccount are known to the server.
  if ('serviceAccount' in identity) {
    return { user: `system:serviceaccount:${identity.namespace}:${identity.serviceAccount}` };
  }
  const { user, groups, uid, extra } = identity;
  return { user, ...(groups && { groups }), ...(uid && { uid }), ...(extra && { extra }) };
}
