import { Lease, Pod } from 'riata/kinds';
import { type CheckedCluster, type Finding, ok, warning } from './finding.js';

/** Clocks of machines differ: a Lease counts as expired only after this time more. */
const toleranceMs = 30_000;

/** Whether the operator's Leases are held, by a Pod that exists. */
export async function checkLeases(cluster: CheckedCluster): Promise<readonly Finding[]> {
  const { leaderElection, sharding } = cluster.operator?.options ?? {};
  const leases = [leaderElection, sharding].filter((each) => each !== undefined);
  const found = await Promise.all(leases.map(({ namespace, name }) => leaseFindings(cluster, namespace, name)));
  return found.flat();
}

async function leaseFindings(
  { client, clock, signal }: CheckedCluster,
  namespace: string,
  name: string,
): Promise<readonly Finding[]> {
  const lease = await client.find(Lease, { namespace, name }, { signal });
  const subject = `Lease ${namespace}/${name}`;
  const start = `is the operator running? See: kubectl get pods -n ${namespace}`;
  if (lease === undefined)
    return [warning(`${subject} not found: the operator has never run here`, 'deploy it: riata deploy')];
  const { holderIdentity = '', renewTime, leaseDurationSeconds = 15 } = lease.spec ?? {};
  if (holderIdentity === '') return [warning(`${subject} is held by no replica`, start)];
  const sinceMs = clock.now() - Date.parse(renewTime ?? '');
  if (sinceMs > leaseDurationSeconds * 1_000 + toleranceMs) {
    const seconds = Math.round(sinceMs / 1_000);
    return [warning(`${subject} expired: ${holderIdentity} renewed it ${seconds} s ago`, start)];
  }
  // Identities are hostname_uuid, and the hostname of a Pod is its name.
  const [host = ''] = holderIdentity.split('_');
  if ((await client.find(Pod, { namespace, name: host }, { signal })) === undefined) {
    return [
      warning(
        `${subject} is held by ${holderIdentity}, which is no Pod of ${namespace}`,
        'an operator runs elsewhere, on a laptop perhaps; the deployed one waits until it ends',
      ),
    ];
  }
  return [ok(`${subject} is held by ${host}`)];
}
