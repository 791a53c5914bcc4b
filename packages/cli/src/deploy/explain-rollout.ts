import { type ConnectedClient, lines } from 'riata/client';
import { type Deployment, Event, Pod, ReplicaSet, Secret } from 'riata/kinds';
import { explainPod } from './explain-pod.js';
import type { RolloutProblem } from './rollout-problem.js';

const logLines = 20;

/** What keeps a Deployment's newest Pods from being ready. */
export async function explainRollout(
  client: ConnectedClient,
  deployment: Deployment,
  signal: AbortSignal,
): Promise<RolloutProblem[]> {
  const creation = creationProblem(deployment);
  if (creation !== undefined) return [creation];
  const problems: RolloutProblem[] = [];
  const seen = new Set<string>();
  for (const pod of await newestPods(client, deployment, signal)) {
    const problem = explainPod(pod, await surroundingsOf(client, pod, signal));
    // All replicas have the same problem, mostly.
    const key = problem && `${problem.type} ${problem.message}`;
    if (problem === undefined || key === undefined || seen.has(key)) continue;
    seen.add(key);
    problems.push(problem);
  }
  return problems;
}

/** Why no Pods can be made: quota, PodSecurity, other admission. */
function creationProblem({ metadata, status }: Deployment): RolloutProblem | undefined {
  const condition = status.conditions?.find(({ type, status: is }) => type === 'ReplicaFailure' && is === 'True');
  if (condition === undefined) return undefined;
  const text = condition.message ?? condition.reason ?? 'no reason given';
  const object = `Deployment ${metadata.namespace}/${metadata.name}`;
  const message = `its Pods cannot be created: ${text}`;
  const problem = { object, message, mayPass: false };
  if (/exceeded quota/.test(text)) {
    const quota = /exceeded quota: ([^,]+)/.exec(text)?.[1] ?? 'of the namespace';
    return {
      ...problem,
      type: 'quota',
      remedy: `raise the ResourceQuota ${quota}, or lower resources or replicas by deployment(operator, { … })`,
    };
  }
  if (/violates PodSecurity/.test(text)) {
    return {
      ...problem,
      type: 'pod-security',
      remedy: 'change the fields it names, or the label pod-security.kubernetes.io/enforce of the namespace',
    };
  }
  if (/serviceaccount|service account/i.test(text))
    return { ...problem, type: 'configuration', remedy: 'create the ServiceAccount: deployment(operator) has one' };
  if (/failed calling webhook/.test(text))
    return {
      ...problem,
      type: 'webhook',
      remedy: 'a webhook of the cluster does not answer; repair or remove the one it names',
    };
  return {
    ...problem,
    type: 'creation',
    remedy: 'the cluster refuses them; change what it names by deployment(operator, { … })',
  };
}

/** Those of the newest ReplicaSet: older ones show the problems of an older version. */
async function newestPods(
  client: ConnectedClient,
  deployment: Deployment,
  signal: AbortSignal,
): Promise<readonly Pod[]> {
  const { namespace, uid } = deployment.metadata;
  const query = { namespace, labelSelector: deployment.spec.selector, signal };
  const sets = (await client.list(ReplicaSet, query)).items.filter((set) => isOwnedBy(set, uid));
  const revision = (set: ReplicaSet) => Number(set.metadata.annotations?.['deployment.kubernetes.io/revision'] ?? 0);
  const newest = [...sets].sort((a, b) => revision(b) - revision(a))[0];
  if (newest === undefined) return [];
  const pods = (await client.list(Pod, query)).items;
  return pods.filter((pod) => isOwnedBy(pod, newest.metadata.uid) && pod.metadata.deletionTimestamp === undefined);
}

function isOwnedBy({ metadata }: Pod | ReplicaSet, uid: string): boolean {
  return metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false;
}

async function surroundingsOf(client: ConnectedClient, pod: Pod, signal: AbortSignal) {
  const { namespace, name, uid } = pod.metadata;
  // None of these is worth failing for: rights to read them may be missing.
  const events = await client
    .list(Event, { namespace, fieldSelector: `involvedObject.uid=${uid}`, signal })
    .then(({ items }) => items.map(({ reason = '', message = '' }) => ({ reason, message })))
    .catch(() => []);
  const missingPullSecrets: string[] = [];
  for (const { name: secret = '' } of pod.spec.imagePullSecrets ?? []) {
    const found = await client.find(Secret, { namespace, name: secret }, { signal }).catch(() => true);
    if (found === undefined) missingPullSecrets.push(secret);
  }
  const status = pod.status.containerStatuses?.[0];
  const hasRun =
    status?.state?.running !== undefined ||
    status?.lastState?.terminated !== undefined ||
    status?.state?.terminated !== undefined;
  const log =
    hasRun && !status.ready
      ? await logOf(client, { namespace, name }, status.name, (status.restartCount ?? 0) > 0, signal)
      : [];
  return { events, missingPullSecrets, log };
}

async function logOf(
  client: ConnectedClient,
  pod: { readonly namespace: string; readonly name: string },
  container: string,
  hasCrashed: boolean,
  signal: AbortSignal,
): Promise<string[]> {
  for (const previous of hasCrashed ? [true, false] : [false]) {
    try {
      const found: string[] = [];
      for await (const line of lines(
        await client.logs(pod, { container, previous, tailLines: logLines, limitBytes: 65_536, signal }),
      ))
        found.push(line);
      if (found.length > 0) return found.slice(-logLines);
    } catch {
      signal.throwIfAborted();
    }
  }
  return [];
}
