import type { JsonObject } from 'riata/object';
import { isGiven, recordOf, recordsOf, stringsOf, textOf } from '../../../resource/metadata.js';
import { checkProcMount } from './baseline-checks.js';
import {
  type CheckedPod,
  containers,
  containersOf,
  containersWhere,
  contextOf,
  hasUserNamespace,
  isWindows,
  plural,
  quoted,
  type SecurityCheck,
  setters,
  unique,
  type Violation,
} from './security-check.js';

const restricted = 'restricted';
const allowedVolumes = [
  ...['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image', 'persistentVolumeClaim', 'projected'],
  'secret',
];
/** In upstream's order. */
const restrictedVolumes = [
  ...['hostPath', 'gcePersistentDisk', 'awsElasticBlockStore', 'gitRepo', 'nfs', 'iscsi', 'glusterfs', 'rbd'],
  ...['flexVolume', 'cinder', 'cephfs', 'flocker', 'fc', 'azureFile', 'vsphereVolume', 'quobyte', 'azureDisk'],
  ...['photonPersistentDisk', 'portworxVolume', 'scaleIO', 'storageos'],
];

/** The rules that the restricted level adds to the baseline level, except for seccomp profiles. */
export const restrictedChecks: readonly SecurityCheck[] = [
  {
    id: 'allowPrivilegeEscalation',
    level: restricted,
    versions: [
      { minor: 8, check: checkEscalation },
      { minor: 25, check: (pod) => (isWindows(pod) ? undefined : checkEscalation(pod)) },
    ],
  },
  {
    id: 'capabilities_restricted',
    level: restricted,
    versions: [
      { minor: 22, check: checkCapabilities, overrides: 'capabilities_baseline' },
      {
        minor: 25,
        check: (pod) => (isWindows(pod) ? undefined : checkCapabilities(pod)),
        overrides: 'capabilities_baseline',
      },
    ],
  },
  {
    id: 'procMount_restricted',
    level: restricted,
    versions: [{ minor: 35, check: checkProcMount, overrides: 'procMount' }],
  },
  {
    id: 'restrictedVolumes',
    level: restricted,
    versions: [{ minor: 0, check: checkVolumes, overrides: 'hostPathVolumes' }],
  },
  {
    id: 'runAsNonRoot',
    level: restricted,
    versions: [
      { minor: 0, check: checkNonRoot },
      { minor: 35, check: (pod) => (hasUserNamespace(pod) ? undefined : checkNonRoot(pod)) },
    ],
  },
  {
    id: 'runAsUser',
    level: restricted,
    versions: [
      { minor: 23, check: checkUser },
      { minor: 35, check: (pod) => (hasUserNamespace(pod) ? undefined : checkUser(pod)) },
    ],
  },
];

function checkEscalation(pod: CheckedPod): Violation | undefined {
  const bad = containersWhere(pod, (container) => contextOf(container).allowPrivilegeEscalation !== false);
  if (bad.length === 0) return undefined;
  const detail = `${containers(bad)} must set securityContext.allowPrivilegeEscalation=false`;
  return { reason: 'allowPrivilegeEscalation != false', detail };
}

function checkCapabilities(pod: CheckedPod): Violation | undefined {
  const dropped = (container: JsonObject) => stringsOf(recordOf(contextOf(container).capabilities).drop);
  const added = (container: JsonObject) =>
    stringsOf(recordOf(contextOf(container).capabilities).add).filter((name) => name !== 'NET_BIND_SERVICE');
  const keeping = containersWhere(pod, (container) => !dropped(container).includes('ALL'));
  const adding = containersWhere(pod, (container) => added(container).length > 0);
  const names = quoted(unique(containersOf(pod).flatMap(added)));
  const details = [
    ...(keeping.length > 0 ? [`${containers(keeping)} must set securityContext.capabilities.drop=["ALL"]`] : []),
    ...(adding.length > 0
      ? [`${containers(adding)} must not include ${names} in securityContext.capabilities.add`]
      : []),
  ];
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') };
}

function checkVolumes({ spec }: CheckedPod): Violation | undefined {
  const bad = recordsOf(spec.volumes).filter((volume) => !allowedVolumes.some((type) => isGiven(volume[type])));
  if (bad.length === 0) return undefined;
  const types = unique(bad.map((volume) => restrictedVolumes.find((type) => isGiven(volume[type])) ?? 'unknown'));
  const names = `${plural('volume', 'volumes', bad.length)} ${quoted(bad.map(({ name }) => textOf(name)))}`;
  const what = plural('restricted volume type', 'restricted volume types', types.length);
  const detail = `${names} ${plural('uses', 'use', bad.length)} ${what} ${quoted(types)}`;
  return { reason: 'restricted volume types', detail };
}

function checkNonRoot(pod: CheckedPod): Violation | undefined {
  const reason = 'runAsNonRoot != true';
  const setting = (owner: JsonObject) => contextOf(owner).runAsNonRoot;
  const isBad = (owner: JsonObject) => setting(owner) === false;
  const who = setters(isBad(pod.spec), containersWhere(pod, isBad));
  if (who !== '') return { reason, detail: `${who} must not set securityContext.runAsNonRoot=false` };
  if (setting(pod.spec) === true) return undefined;
  const missing = containersWhere(pod, (container) => !isGiven(setting(container)));
  if (missing.length === 0) return undefined;
  return { reason, detail: `pod or ${containers(missing)} must set securityContext.runAsNonRoot=true` };
}

function checkUser(pod: CheckedPod): Violation | undefined {
  const isRoot = (owner: JsonObject) => contextOf(owner).runAsUser === 0;
  const who = setters(isRoot(pod.spec), containersWhere(pod, isRoot));
  return who === '' ? undefined : { reason: 'runAsUser=0', detail: `${who} must not set runAsUser=0` };
}
