import type { Pod } from 'riata/kinds';
import { missingRights } from './missing-rights.js';
import type { RolloutProblem } from './rollout-problem.js';

/** What else is known of a Pod's surroundings. */
export interface PodSurroundings {
  /** Messages of its Events, oldest first. */
  readonly events: readonly { readonly reason: string; readonly message: string }[];
  /** Of the Pod's `imagePullSecrets`, those that don't exist. */
  readonly missingPullSecrets: readonly string[];
  /** The last lines of the log: of the run before, if the container has crashed. */
  readonly log: readonly string[];
}

/** What keeps one Pod from being ready; undefined if it is, or if it only needs time. */
export function explainPod(pod: Pod, surroundings: PodSurroundings): RolloutProblem | undefined {
  const object = `Pod ${pod.metadata.namespace}/${pod.metadata.name}`;
  const scheduled = pod.status.conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status === 'False') {
    const message = `cannot be scheduled: ${scheduled.message ?? scheduled.reason ?? 'no reason given'}`;
    const remedy =
      'add nodes, or change resources, nodeSelector or tolerations by deployment(operator, { resources, pod })';
    return { type: 'unschedulable', object, message, remedy, mayPass: true };
  }
  const statuses = [...(pod.status.initContainerStatuses ?? []), ...(pod.status.containerStatuses ?? [])];
  for (const { name, image, state, lastState, ready } of statuses) {
    const waiting = state?.waiting;
    const reason = waiting?.reason ?? '';
    if (pullReasons.has(reason)) return pullProblem(pod, object, image, waiting?.message, surroundings);
    if (
      reason === 'CreateContainerConfigError' ||
      reason === 'CreateContainerError' ||
      reason === 'RunContainerError'
    ) {
      const message = `container ${name} cannot be created: ${waiting?.message ?? reason}`;
      return { type: 'configuration', object, message, remedy: configurationRemedy(message), mayPass: false };
    }
    const ended = state?.terminated ?? lastState?.terminated;
    if (reason === 'CrashLoopBackOff' || (ended !== undefined && ended.exitCode !== 0 && !ready)) {
      return crashProblem(object, name, ended, surroundings.log);
    }
  }
  const isReady = pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
  if (isReady || pod.status.phase !== 'Running') return undefined;
  return notReadyProblem(object, surroundings);
}

const pullReasons: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'RegistryUnavailable',
  'ImageInspectError',
  'SignatureValidationFailed',
]);

function pullProblem(
  pod: Pod,
  object: string,
  statusImage: string,
  waiting: string | undefined,
  { events, missingPullSecrets }: PodSurroundings,
): RolloutProblem {
  const image = pod.spec.containers.find((each) => each.image === statusImage)?.image ?? statusImage;
  // "Back-off pulling image" says nothing; the Event of the pull itself has the registry's answer.
  const answers = events.filter(({ reason, message }) => reason === 'Failed' && /pull/i.test(message));
  const texts = [waiting, answers.at(-1)?.message].map((text) =>
    text?.replace(/^Back-off pulling image "[^"]*"(?:: )?/, ''),
  );
  const answer = texts.find((text) => text !== undefined && text !== '') ?? 'no reason given';
  const message = `cannot pull the image "${image}": ${answer}`;
  return {
    type: 'image-pull',
    object,
    message,
    remedy: pullRemedy(pod, image, answer, missingPullSecrets),
    mayPass: false,
  };
}

function pullRemedy(pod: Pod, image: string, answer: string, missing: readonly string[]): string {
  if (missing.length > 0) {
    return `create the missing Secret ${missing.join(', ')} of imagePullSecrets in the namespace ${pod.metadata.namespace}: kubectl create secret docker-registry`;
  }
  if (/no match for platform|no matching manifest|exec format/i.test(answer)) {
    return 'build it for the platform of the nodes: riata image --push --platform linux/amd64 linux/arm64';
  }
  if (/unauthori[sz]ed|denied|forbidden|authentication|401|403|no basic auth/i.test(answer)) {
    const secrets = pod.spec.imagePullSecrets?.map(({ name }) => name).join(', ');
    return secrets
      ? `check that the Secret ${secrets} of imagePullSecrets has credentials that may read it; if it does not exist, push it: riata image --push`
      : `the Pod has no imagePullSecrets; give some by deployment(operator, { pod: { imagePullSecrets } }), or push the image if it does not exist: riata image --push`;
  }
  if (/not found|manifest unknown|does not exist|404/i.test(answer))
    return `push it first: riata image --push, or name another one by --image`;
  if (/no such host|dial tcp|timeout|connection refused|TLS|x509|certificate/i.test(answer)) {
    return 'the nodes cannot reach the registry, or do not trust its certificate; check its name from a node';
  }
  return image.includes('@') || /:[\w.-]+$/.test(image)
    ? 'check the name of the image and the registry'
    : 'give the image a tag or digest';
}

function configurationRemedy(message: string): string {
  const missing = /(secret|configmap) "([^"]+)" not found/i.exec(message);
  if (missing !== null) return `create the ${missing[1]} ${missing[2]} in its namespace`;
  if (/runAsNonRoot/.test(message)) return 'the image runs as root; build it by riata image, which sets a numeric user';
  return 'correct the container by deployment(operator, { … })';
}

interface Ended {
  readonly exitCode: number;
  readonly reason?: string;
  readonly message?: string;
  readonly signal?: number;
}

function crashProblem(
  object: string,
  container: string,
  ended: Ended | undefined,
  log: readonly string[],
): RolloutProblem {
  if (ended?.reason === 'OOMKilled') {
    const message = `container ${container} used more memory than its limit (OOMKilled)`;
    const remedy =
      'raise the limit by deployment(operator, { resources }), or cache less: metadata-only kinds, selectors, namespaces';
    return { type: 'crash', object, message, remedy, log, mayPass: false };
  }
  const rights = missingRights(log);
  if (rights.length > 0) return rightsProblem(object, rights, log);
  const how = ended === undefined ? 'ended' : `exited with code ${ended.exitCode}`;
  const message = `container ${container} crashes: it ${how}${ended?.message ? `: ${ended.message.trim()}` : ''}`;
  const remedy = isUnknownFormat(log)
    ? 'the image is for another platform; build it by riata image --push --platform linux/amd64 linux/arm64'
    : 'correct what its log says, or try it before: riata dev';
  return { type: 'crash', object, message, remedy, log, mayPass: false };
}

function isUnknownFormat(log: readonly string[]): boolean {
  return log.some((line) => /exec format error/.test(line));
}

function rightsProblem(object: string, rights: readonly string[], log: readonly string[]): RolloutProblem {
  const message = `the operator lacks rights: ${rights.join('; ')}`;
  const remedy =
    'declare what it reads by .reads(Kind) or .owns(Kind), or add them as rights in riata.config.ts, then deploy again';
  return { type: 'rights', object, message, remedy, log, mayPass: false };
}

function notReadyProblem(object: string, { events, log }: PodSurroundings): RolloutProblem {
  const rights = missingRights(log);
  if (rights.length > 0) return rightsProblem(object, rights, log);
  const probe = events.filter(({ reason }) => reason === 'Unhealthy').at(-1)?.message;
  const message = `runs, but is not ready${probe === undefined ? '' : `: ${probe}`}`;
  return {
    type: 'not-ready',
    object,
    message,
    remedy: 'its /readyz lists what it waits for; see its log',
    log,
    mayPass: true,
  };
}
