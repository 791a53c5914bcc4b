import { isForbidden } from 'riata';
import { describeError } from 'riata/runtime';
import { checkConnection } from './check-connection.js';
import { checkCrds } from './check-crds.js';
import { checkDeployment } from './check-deployment.js';
import { checkIdentity } from './check-identity.js';
import { checkLeases } from './check-leases.js';
import { checkRights } from './check-rights.js';
import { checkWebhooks } from './check-webhooks.js';
import { type Check, type CheckedCluster, type Finding, problem, warning } from './finding.js';

/** A check that was made. */
export interface CheckResult {
  readonly check: string;
  readonly findings: readonly Finding[];
}

/** In this order; without a connection the rest is left out. */
const checks: readonly (readonly [name: string, check: Check])[] = [
  ['connection', checkConnection],
  ['identity', checkIdentity],
  ['definitions', checkCrds],
  ['deployment', checkDeployment],
  ['rights', checkRights],
  ['webhooks', checkWebhooks],
  ['leases', checkLeases],
];

/** Makes all checks one by one; those without findings do not apply. */
export async function* runChecks(cluster: CheckedCluster): AsyncGenerator<CheckResult, void, undefined> {
  for (const [check, run] of checks) {
    const findings = await run(cluster).catch((error: unknown) => [failed(error, cluster.signal)]);
    if (findings.length > 0) yield { check, findings };
    if (check === 'connection' && findings.some(({ level }) => level === 'problem')) return;
  }
}

function failed(error: unknown, signal: AbortSignal): Finding {
  signal.throwIfAborted();
  if (isForbidden(error)) return warning(`not checked: ${describeError(error)}`, 'ask as a user who may, by --context');
  return problem(`the check failed: ${describeError(error)}`);
}
