import type { Node } from 'riata/kinds';
import { formatTime } from 'riata/object';

type Condition = NonNullable<Node['status']['conditions']>[number];

const room = { cpu: '8', memory: '16Gi', pods: '110' };

const healthy: readonly (readonly [type: string, status: string, reason: string, message: string])[] = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
];

/** The inputs of {@link nodeStatus}. */
export interface NodeStatusParts {
  /** Undefined leaves times out. */
  readonly nowMs: number | undefined;
  /** For a node that has none. */
  readonly address: string;
}

/**
 * The status of a node whose kubelet runs. Existing fields are kept, conditions included: there is no machine to
 * measure, and a test that writes `Ready: False` means it.
 */
export function nodeStatus(
  {
    metadata: { name },
    status = {},
  }: { readonly metadata: { readonly name: string }; readonly status?: Node['status'] },
  { nowMs, address }: NodeStatusParts,
) {
  const known = status.conditions ?? [];
  const missing = healthy.filter(([type]) => !known.some((condition) => condition.type === type));
  const made = missing.map(([type, is, reason, message]): Condition => ({ type, status: is, reason, message }));
  const conditions = [...known, ...made].map((condition) => timed(condition, nowMs));
  const capacity = hasEntries(status.capacity) ? status.capacity : (status.allocatable ?? room);
  return {
    capacity,
    allocatable: hasEntries(status.allocatable) ? status.allocatable : capacity,
    conditions,
    addresses: status.addresses?.length
      ? status.addresses
      : [
          { type: 'InternalIP', address },
          { type: 'Hostname', address: name },
        ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: status.nodeInfo?.kubeletVersion ? status.nodeInfo : nodeInfo(name),
  };
}

function timed(condition: Condition, nowMs: number | undefined): Condition {
  if (nowMs === undefined) return condition;
  const now = formatTime(nowMs);
  return { ...condition, lastHeartbeatTime: now, lastTransitionTime: condition.lastTransitionTime ?? now };
}

function hasEntries(
  amounts: Readonly<Record<string, string>> | undefined,
): amounts is Readonly<Record<string, string>> {
  return amounts !== undefined && Object.keys(amounts).length > 0;
}

function nodeInfo(name: string) {
  return {
    kubeletVersion: 'v1.36.3',
    operatingSystem: 'linux',
    architecture: 'amd64',
    osImage: 'Riata sandbox',
    kernelVersion: 'none',
    containerRuntimeVersion: 'none://0',
    kubeProxyVersion: '',
    machineID: name,
    systemUUID: name,
    bootID: name,
  };
}
