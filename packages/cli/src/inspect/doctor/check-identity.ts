import { isNotFound } from 'riata';
import { SelfSubjectReview } from 'riata/kinds';
import { type CheckedCluster, type Finding, ok, problem, warning } from './finding.js';

/** Who one is for the server. */
export async function checkIdentity({ client, signal }: CheckedCluster): Promise<readonly Finding[]> {
  const { status } = await client.create(SelfSubjectReview({ metadata: {} }), { signal }).catch((error: unknown) => {
    // Before Kubernetes 1.28 there is no such review.
    if (isNotFound(error)) return { status: undefined };
    throw error;
  });
  const { username, groups = [] } = status?.userInfo ?? {};
  if (username === undefined) return [warning('the server does not say who you are')];
  if (username === 'system:anonymous') {
    return [problem('you are anonymous: the request carried no credentials', 'log in, or choose another --context')];
  }
  const shown = groups.filter((group) => group !== 'system:authenticated');
  return [ok(`you are ${username}${shown.length > 0 ? ` in ${shown.join(', ')}` : ''}`)];
}
