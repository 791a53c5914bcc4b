import type { UserInfo } from '../../../authentication/user-info.js';
import { resourceAttributes } from '../../../authorization/attributes.js';
import type { Authorizer } from '../../../authorization/authorizer.js';

/** Whether a user has a verb on a signer, or on all signers of its domain. */
export function mayUseSigner(authorizer: Authorizer, user: UserInfo, verb: string, signerName: string): boolean {
  const names = [signerName, `${signerName.split('/')[0]}/*`];
  const group = 'certificates.k8s.io';
  return names.some((name) =>
    authorizer.isAllowed(resourceAttributes(user, { verb, group, resource: 'signers', name })),
  );
}
