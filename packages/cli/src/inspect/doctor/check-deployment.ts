import { Deployment, Pod } from 'riata/kinds';
import { selectorFrom } from 'riata/object';
import { type CheckedCluster, type Finding, ok, problem, warning } from './finding.js';

/** Whether the operator is deployed, ready, and of the project's version. */
export async function checkDeployment({ client, operator, signal }: CheckedCluster): Promise<readonly Finding[]> {
  if (operator === undefined) return [];
  const { name, namespace, image, version } = operator;
  const deployment = await client.find(Deployment, { namespace, name }, { signal });
  const subject = `Deployment ${namespace}/${name}`;
  if (deployment === undefined)
    return [warning(`${subject} not found: the operator is not deployed`, 'deploy it: riata deploy')];
  const findings: Finding[] = [];
  const images = (deployment.spec?.template.spec?.containers ?? []).map((container) => container.image ?? '');
  const deployed = images.find(
    (each) => each === image || each.startsWith(`${image}:`) || each.startsWith(`${image}@`),
  );
  if (deployed === undefined) {
    findings.push(warning(`${subject} runs ${images.join(', ')}, not ${image}`, 'deploy the project: riata deploy'));
  } else if (deployed.startsWith(`${image}:`) && deployed.split('@')[0] !== `${image}:${version}`) {
    const tag = deployed.slice(image.length + 1).split('@')[0];
    findings.push(
      warning(`${subject} runs version ${tag}, the project is ${version}`, 'deploy the project: riata deploy'),
    );
  }
  const { replicas = 1 } = deployment.spec ?? {};
  const { readyReplicas = 0 } = deployment.status ?? {};
  if (readyReplicas < replicas) {
    const labelSelector = selectorFrom(deployment.spec?.selector);
    const { items } = await client.list(Pod, { namespace, labelSelector, signal });
    const reasons = items.flatMap(waitingReasons);
    const report = readyReplicas === 0 ? problem : warning;
    findings.push(
      report(
        `${subject} has ${readyReplicas} of ${replicas} replicas ready${reasons.length > 0 ? `: ${[...new Set(reasons)].join('; ')}` : ''}`,
        `see: kubectl describe pods -n ${namespace}`,
      ),
    );
  }
  return findings.length > 0
    ? findings
    : [ok(`${subject} runs ${deployed}, ${readyReplicas} of ${replicas} replicas ready`)];
}

/** Why containers of a Pod do not run. */
function waitingReasons({ status }: Pod): string[] {
  return (status?.containerStatuses ?? []).flatMap(({ state, lastState }) => {
    const { reason, message } = state?.waiting ?? {};
    if (reason === undefined || reason === 'ContainerCreating') return [];
    const ended = lastState?.terminated;
    const exit = ended === undefined ? '' : `, exit code ${ended.exitCode}`;
    return [`${reason}${exit}${message === undefined ? '' : ` (${message})`}`];
  });
}
