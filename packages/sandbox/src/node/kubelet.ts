import { control, type ReconcileContext } from 'riata';
import { Node, Pod } from 'riata/kinds';
import { type Duration, durationMs } from 'riata/object';
import { optionNames, refuseUnknownOptions } from 'riata/runtime';
import { lookAgain } from '../workloads/look-again.js';
import { hasEnded } from '../workloads/pods.js';
import { says } from '../workloads/says.js';
import type { PodLogs } from './pod-logs.js';

/** The fate of a Pod's containers. */
export interface PodFate {
  /** How long they take to start. @default '0s' */
  readonly startsAfter?: Duration;
  /** How long it takes from then until they are ready; 'never' for a probe that fails. @default '0s' */
  readonly readyAfter?: Duration | 'never';
  /** When they end by themselves after their start, and with which code. @default they run on */
  readonly endsAfter?: Duration;
  /** @default 0 */
  readonly exitCode?: number;
  /** How long they take to stop once asked to. @default '0s' */
  readonly stopsAfter?: Duration;
  /** Their images cannot be pulled, with this answer of the registry: `manifest unknown`. @default they can */
  readonly pullFails?: string;
}

export const podFateOptionNames = optionNames<PodFate>({
  startsAfter: true,
  readyAfter: true,
  endsAfter: true,
  exitCode: true,
  stopsAfter: true,
  pullFails: true,
});

/** Which Pods a simulated kubelet runs, and how they end. */
export interface KubeletOptions {
  /** Nodes whose Pods it runs. @default all */
  readonly nodes?: (name: string) => boolean;
  /** The fate of a Pod. @default Pods that restart run on; others complete at once */
  readonly fate?: (pod: Pod) => PodFate | undefined;
  /** Follows restarts and ends of containers. @default nobody reads logs */
  readonly logs?: Pick<PodLogs, 'observe' | 'remove'>;
}

export const kubeletOptionNames = optionNames<KubeletOptions>({ nodes: true, fate: true, logs: true });

/**
 * Pretends to run the Pods of nodes: nothing is started, but Pods get addresses and become Running and Ready, end,
 * crash, are started again and stop, as `fate` says and on the clock.
 */
export const kubelet = ({ nodes = () => true, fate = () => undefined, logs }: KubeletOptions = {}) => {
  const addresses = new Addresses();
  return control(Pod, { name: 'kubelet' })
    .reads(Node)
    .reconcile(async (context) => {
      const { object: pod } = context;
      const { nodeName = '' } = pod.spec;
      logs?.observe(pod);
      if (nodeName === '' || !nodes(nodeName)) return undefined;
      const own = fate(pod) ?? usualFate(pod);
      refuseUnknownOptions('fate', own, podFateOptionNames);
      if (pod.metadata.deletionTimestamp !== undefined) {
        const again = await stop(context, own);
        if (again === undefined) logs?.remove(pod.metadata.uid ?? '');
        return again;
      }
      if (hasEnded(pod)) return undefined;
      return run(context, own, addresses);
    });
};

function usualFate(pod: Pod): PodFate {
  return (pod.spec.restartPolicy ?? 'Always') === 'Always' ? {} : { endsAfter: '0s' };
}

/** A deleted Pod is removed when its containers have stopped. */
async function stop({ object: pod, client, clock }: ReconcileContext<Pod>, { stopsAfter = '0s' }: PodFate) {
  const grace = pod.metadata.deletionGracePeriodSeconds ?? 0;
  const asked = Date.parse(pod.metadata.deletionTimestamp ?? '') - grace * 1000;
  const left = Math.min(asked + durationMs(stopsAfter), asked + grace * 1000) - clock.now();
  if (left > 0) return lookAgain(left);
  await client.delete(Pod, pod.metadata, { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } });
  return undefined;
}

async function run(context: ReconcileContext<Pod>, fate: PodFate, addresses: Addresses) {
  const { object: pod, client, clock } = context;
  const now = clock.now();
  const accepted = Date.parse(pod.status.startTime ?? '') || now;
  const restarts = pod.status.containerStatuses?.[0]?.restartCount ?? 0;
  const previous = pod.status.containerStatuses?.[0]?.lastState?.terminated?.finishedAt;
  // After a crash it is started again later and later, as upstream does.
  const backOff = restarts === 0 ? 0 : Math.min(10_000 * 2 ** (restarts - 1), 300_000);
  const from = previous === undefined ? accepted : Date.parse(previous) + backOff;
  const { pullFails } = fate;
  const starts = from + durationMs(fate.startsAfter ?? '0s');
  const ends = fate.endsAfter === undefined ? Number.POSITIVE_INFINITY : starts + durationMs(fate.endsAfter);
  const ready = fate.readyAfter === 'never' ? Number.POSITIVE_INFINITY : starts + durationMs(fate.readyAfter ?? '0s');
  const phase = pullFails !== undefined || now < starts ? 'waiting' : now >= ends ? 'ended' : 'running';
  const code = fate.exitCode ?? 0;
  const policy = pod.spec.restartPolicy ?? 'Always';
  const isRestarted = phase === 'ended' && (policy === 'Always' || (policy === 'OnFailure' && code !== 0));
  const isReady = phase === 'running' && now >= ready;
  const time = (ms: number) => new Date(Math.floor(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
  const terminated = {
    exitCode: code,
    reason: code === 0 ? 'Completed' : 'Error',
    startedAt: time(starts),
    finishedAt: time(Math.min(ends, now)),
  };
  const state =
    phase === 'waiting' || isRestarted
      ? { waiting: { reason: restarts + (isRestarted ? 1 : 0) > 0 ? 'CrashLoopBackOff' : 'ContainerCreating' } }
      : phase === 'running'
        ? { running: { startedAt: time(starts) } }
        : { terminated };
  const podPhase =
    phase === 'ended' && !isRestarted
      ? code === 0
        ? 'Succeeded'
        : 'Failed'
      : phase === 'waiting' && restarts === 0
        ? 'Pending'
        : 'Running';
  const ip = pod.status.podIP || addresses.next();
  const hostIP = pod.status.hostIP || (await addressOf(pod, client));
  const statuses = pod.spec.containers.map(({ name, image = '' }) => ({
    name,
    image,
    imageID: '',
    ready: isReady,
    started: phase === 'running',
    restartCount: restarts + (isRestarted ? 1 : 0),
    state: pullFails === undefined ? state : { waiting: pullBackOff(image, pullFails) },
    lastState: isRestarted
      ? { terminated }
      : (pod.status.containerStatuses?.find((s) => s.name === name)?.lastState ?? {}),
  }));
  const ephemeralStatuses = (pod.spec.ephemeralContainers ?? []).map(({ name, image = '' }) => {
    const before = pod.status.ephemeralContainerStatuses?.find((status) => status.name === name)?.state?.running;
    const since = before?.startedAt ?? time(now);
    const debugged = phase === 'running' ? { running: { startedAt: since } } : state;
    const own = pullFails === undefined ? debugged : { waiting: pullBackOff(image, pullFails) };
    return { name, image, imageID: '', ready: false, restartCount: 0, state: own, lastState: {} };
  });
  const condition = (type: string, holds: boolean, reason?: string) => {
    const before = pod.status.conditions?.find((c) => c.type === type);
    const status = holds ? 'True' : 'False';
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : time(now);
    return { type, status, lastTransitionTime, ...(holds || !reason ? {} : { reason }) };
  };
  const why = podPhase === 'Succeeded' ? 'PodCompleted' : 'ContainersNotReady';
  const status = {
    phase: podPhase,
    startTime: pod.status.startTime ?? time(now),
    ...(hostIP && { hostIP, hostIPs: [{ ip: hostIP }] }),
    podIP: ip,
    podIPs: [{ ip }],
    containerStatuses: statuses,
    ...(ephemeralStatuses.length > 0 && { ephemeralContainerStatuses: ephemeralStatuses }),
    conditions: [
      condition('PodReadyToStartContainers', phase !== 'ended'),
      condition('Initialized', true),
      condition('Ready', isReady, why),
      condition('ContainersReady', isReady, why),
      condition('PodScheduled', true),
    ],
  };
  if (!says(pod.status, status)) await client.status.patch(Pod, pod.metadata, { type: 'strategic', body: { status } });
  const next = Math.min(...[starts, ready, ends].filter((at) => at > now));
  if (isRestarted) return lookAgain(Math.min(10_000 * 2 ** restarts, 300_000));
  return Number.isFinite(next) ? lookAgain(next - now) : undefined;
}

/** As the kubelet words it after the first attempt. */
function pullBackOff(image: string, answer: string) {
  const message = `Back-off pulling image "${image}": ErrImagePull: failed to pull and unpack image "${image}": ${answer}`;
  return { reason: 'ImagePullBackOff', message };
}

/** The address of the node that a Pod runs on; undefined if it has none. */
async function addressOf(pod: Pod, client: ReconcileContext<Pod>['client']): Promise<string | undefined> {
  const node = await client.find(Node, { name: pod.spec.nodeName as string });
  return node?.status.addresses?.find(({ type }) => type === 'InternalIP')?.address;
}

/** Addresses of Pods, each once until all were used. */
class Addresses {
  #last = 0;

  next(): string {
    this.#last = (this.#last % 65_000) + 1;
    return `10.244.${Math.floor(this.#last / 250)}.${(this.#last % 250) + 1}`;
  }
}
