import { freeze } from 'riata/object';
import type { OwnObject } from './own-objects.js';

const set = {};
const managedLabel = 'kube-aggregator.kubernetes.io/automanaged';
const [onStart, later] = freeze([{ [managedLabel]: 'onstart' }, { [managedLabel]: 'true' }]);
const ofMetadata = { 'f:labels': { '.': set, [`f:${managedLabel}`]: set } };
const ofSpec = { 'f:groupPriorityMinimum': set, 'f:version': set, 'f:versionPriority': set };
const [ofCore, ofOthers] = freeze([
  { 'f:metadata': ofMetadata, 'f:spec': ofSpec },
  { 'f:metadata': ofMetadata, 'f:spec': { 'f:group': set, ...ofSpec } },
]);

/** Priorities of groups, and of their versions where they differ from 15. */
const priorities: Readonly<Record<string, number>> = {
  '': 18_000,
  apps: 17_800,
  'events.k8s.io': 17_750,
  'authentication.k8s.io': 17_700,
  'authorization.k8s.io': 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  'certificates.k8s.io': 17_300,
  'networking.k8s.io': 17_200,
  policy: 17_100,
  'rbac.authorization.k8s.io': 17_000,
  'storage.k8s.io': 16_800,
  'apiextensions.k8s.io': 16_700,
  'admissionregistration.k8s.io': 16_700,
  'scheduling.k8s.io': 16_600,
  'coordination.k8s.io': 16_500,
  'node.k8s.io': 16_300,
  'discovery.k8s.io': 16_200,
  'resource.k8s.io': 16_200,
  'flowcontrol.apiserver.k8s.io': 16_100,
};
const versionPriorities: Readonly<Record<string, number>> = {
  '/v1': 1,
  'autoscaling/v2': 30,
  'resource.k8s.io/v1': 21,
  'flowcontrol.apiserver.k8s.io/v1': 21,
};

/** The APIService of a group version that is served here; undefined for the group of APIServices itself. */
export function ownApiService(group: string, version: string, custom: boolean, now: string): OwnObject | undefined {
  const groupPriorityMinimum = custom ? 1000 : priorities[group];
  if (groupPriorityMinimum === undefined) return undefined;
  const versionPriority = custom ? 100 : (versionPriorities[`${group}/${version}`] ?? 15);
  const available = {
    ...{ type: 'Available', status: 'True', lastTransitionTime: now },
    ...{ reason: 'Local', message: 'Local APIServices are always available' },
  };
  return {
    object: {
      metadata: { name: apiServiceName(group, version), labels: custom ? later : onStart },
      spec: { ...(group === '' ? {} : { group }), version, groupPriorityMinimum, versionPriority },
      status: { conditions: [available] },
    },
    fieldsV1: group === '' ? ofCore : ofOthers,
  };
}

export function apiServiceName(group: string, version: string): string {
  return `${version}.${group}`;
}

/** Whether the server created an APIService for a custom kind, and removes it together with the kind. */
export function isOwnCustomService(labels: Readonly<Record<string, string>> | undefined): boolean {
  return labels?.[managedLabel] === 'true';
}
