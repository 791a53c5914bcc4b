import { isApplySetError, isCrdDataLoss } from 'riata/patterns';
import { isApiError } from 'riata/rest';
import { describeError } from 'riata/runtime';
import { memberName } from './deployed-set.js';
import { missingRights } from './missing-rights.js';

/** A failed write in words: each object with what is wrong and what to do. */
export function explainWriteError(error: unknown): string {
  if (isApplySetError(error)) {
    const lines = error.failures.map(
      ({ member, action, error: cause }) => `${action} ${memberName(member)}: ${explainOne(cause)}`,
    );
    const unique = [...new Set(lines)];
    const more = unique.length > 10 ? [`and ${unique.length - 10} more`] : [];
    return [
      `${error.failures.length} ${error.failures.length === 1 ? 'object' : 'objects'} failed`,
      ...unique.slice(0, 10),
      ...more,
    ].join('\n  ');
  }
  // Has its remedy in it, as options of installCrds; here they are options of the command.
  if (isCrdDataLoss(error))
    return error.message.replace(
      /allow it by allowDataLoss|allow that by replaceEmpty/,
      'delete the definition yourself',
    );
  return explainOne(error);
}

function explainOne(error: unknown): string {
  const message = isApiError(error) ? error.message : describeError(error);
  const webhook = /failed calling webhook \\?"([^"\\]+)/.exec(message)?.[1];
  if (webhook !== undefined) {
    return `${message}; the API server cannot reach the webhook ${webhook}: check that the Pods behind its Service are ready, that a NetworkPolicy or firewall lets API servers in, and that its caBundle is current; riata undeploy removes the configuration`;
  }
  const [right] = missingRights([message]);
  if (right !== undefined)
    return `you have no right to ${right}; ask an administrator of the cluster, or use another --context`;
  if (/exceeded quota/.test(message))
    return `${message}; raise the ResourceQuota, or lower resources by deployment(operator, { resources })`;
  if (/no matches for kind|not served|no kind/i.test(message))
    return `${message}; install what brings the kind (Prometheus operator, cert-manager), or leave the object out`;
  if (/attempting to grant RBAC permissions not currently held|escalat/i.test(message)) {
    return `${message}; an account can only grant rights that it holds itself; deploy as an administrator`;
  }
  return message;
}
