import type { Pod } from 'riata/kinds';
import type { KubeObject } from 'riata/object';
import { none, orNone } from './cell-texts.js';
import { type Ages, ageColumn, nameColumn, printer, type RowCondition, texts, wide } from './table-printer.js';

type PodStatus = NonNullable<Pod['status']>;
type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];

/** Pods: the state of their containers, summed up in a word. */
export const podTable = printer<Pod>(
  [
    nameColumn,
    ...texts('Ready', 'Status', 'Restarts'),
    ageColumn,
    ...wide('IP', 'Node', 'Nominated Node', 'Readiness Gates'),
  ],
  (pod, ages) => {
    const { metadata, spec, status } = pod;
    const { ready, reason, restarts } = summaryOf(pod);
    const sidecars = (spec?.initContainers ?? []).filter(isSidecar).length;
    return [
      metadata.name,
      `${ready}/${(spec?.containers ?? []).length + sidecars}`,
      reason,
      restartsText(restarts, ages),
      ages.since(metadata.creationTimestamp),
      orNone(status?.podIPs?.[0]?.ip),
      orNone(spec?.nodeName),
      orNone(status?.nominatedNodeName),
      gatesText(pod),
    ];
  },
  ({ status }) => endings[status?.phase ?? ''],
);

const completed = (reason: string, message: string): readonly RowCondition[] => [
  { type: 'Completed', status: 'True', reason, message },
];
const endings: Readonly<Record<string, readonly RowCondition[]>> = {
  Succeeded: completed('Succeeded', 'The pod has completed successfully.'),
  Failed: completed('Failed', 'The pod failed.'),
};

/** Counted over containers; `last` is when one was last restarted. */
interface Restarts {
  readonly count: number;
  readonly last: string;
}

interface Summary {
  readonly ready: number;
  readonly reason: string;
  readonly restarts: Restarts;
}

function summaryOf(pod: Pod): Summary {
  const status: PodStatus = pod.status ?? {};
  const gated = status.conditions?.some((c) => c.type === 'PodScheduled' && c.reason === 'SchedulingGated');
  const phase = gated ? 'SchedulingGated' : status.reason || status.phase || '';
  const start = initialized(pod, phase);
  const isDone = !start.initializing || isTrue(status, 'Initialized');
  const summary = isDone ? running(status, start) : start;
  return { ...summary, reason: deleted(pod) ?? summary.reason };
}

interface Start extends Summary {
  readonly initializing: boolean;
  /** Of the containers that keep running beside the others. */
  readonly sidecarRestarts: Restarts;
}

/** The progress of the init containers: the first that is not done decides. */
function initialized(pod: Pod, phase: string): Start {
  const specs = pod.spec?.initContainers ?? [];
  const sidecars = new Set(specs.filter(isSidecar).map(({ name }) => name));
  const seen: ContainerStatus[] = [];
  let ready = 0;
  let reason: string | undefined;
  for (const [index, container] of (pod.status?.initContainerStatuses ?? []).entries()) {
    seen.push(container);
    const { terminated, waiting } = container.state ?? {};
    if (terminated?.exitCode === 0) continue;
    if (sidecars.has(container.name) && container.started) {
      if (container.ready) ready++;
      continue;
    }
    if (terminated) reason = `Init:${endText(terminated)}`;
    else if (waiting?.reason && waiting.reason !== 'PodInitializing') reason = `Init:${waiting.reason}`;
    else reason = `Init:${index}/${specs.length}`;
    break;
  }
  return {
    ready,
    reason: reason ?? phase,
    initializing: reason !== undefined,
    restarts: restartsOf(seen),
    sidecarRestarts: restartsOf(seen.filter(({ name }) => sidecars.has(name))),
  };
}

/** The state of the containers once they run; the first of them has the last word. */
function running(status: PodStatus, start: Start): Summary {
  let { ready, reason } = start;
  let isRunning = false;
  let failure = '';
  const containers = [...(status.containerStatuses ?? [])].reverse();
  for (const { state = {}, ready: isReady } of containers) {
    const { waiting, terminated } = state;
    if (waiting?.reason) reason = waiting.reason;
    else if (terminated) {
      reason = endText(terminated);
      if (terminated.exitCode !== 0) failure = reason;
    } else if (isReady && state.running) {
      isRunning = true;
      ready++;
    }
  }
  if (reason === 'Completed') {
    if (isRunning && isTrue(status, 'Ready')) reason = 'Running';
    else if (failure !== '') reason = failure;
    else if (isRunning) reason = 'NotReady';
  }
  const { count, last } = restartsOf(containers);
  const { sidecarRestarts: beside } = start;
  return {
    ready,
    reason,
    restarts: { count: count + beside.count, last: last > beside.last ? last : beside.last },
  };
}

function deleted({ metadata, status }: Pod): string | undefined {
  if ((metadata as KubeObject['metadata']).deletionTimestamp === undefined) return undefined;
  if (status?.reason === 'NodeLost') return 'Unknown';
  return status?.phase === 'Succeeded' || status?.phase === 'Failed' ? undefined : 'Terminating';
}

/** A container that starts first and keeps running. */
function isSidecar({ restartPolicy }: { readonly restartPolicy?: string }): boolean {
  return restartPolicy === 'Always';
}

function isTrue({ conditions }: PodStatus, type: string): boolean {
  return conditions?.find((condition) => condition.type === type)?.status === 'True';
}

function endText({ reason, signal, exitCode }: { reason?: string; signal?: number; exitCode: number }): string {
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);
}

function restartsOf(containers: readonly ContainerStatus[]): Restarts {
  const ends = containers.map(({ lastState }) => lastState?.terminated?.finishedAt ?? '').sort();
  return { count: containers.reduce((sum, { restartCount }) => sum + restartCount, 0), last: ends.at(-1) ?? '' };
}

function restartsText({ count, last }: Restarts, ages: Ages): string {
  return count > 0 && last !== '' ? `${count} (${ages.since(last)} ago)` : String(count);
}

function gatesText({ spec, status }: Pod): string {
  const gates = spec?.readinessGates ?? [];
  if (gates.length === 0) return none;
  const open = gates.filter(({ conditionType }) => status !== undefined && isTrue(status, conditionType));
  return `${open.length}/${gates.length}`;
}
