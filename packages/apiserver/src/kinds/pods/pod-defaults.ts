import { isJsonObject, type Json, type JsonObject, parseQuantity } from 'riata/object';
import { recordOf, textOf } from '../../resource/metadata.js';
import { computed, type DefaultsTable, prefixed } from '../defaults-table.js';
import { withPodTotals } from './pod-totals.js';
import { pullPolicyFor } from './pull-policy-for.js';

/** Amounts are rounded up to thousandths (`SetDefaults_ResourceList`). */
export function roundAmounts(amounts: Json | undefined): Json | undefined {
  if (!isJsonObject(amounts)) return amounts;
  const fine = Object.entries(amounts).filter(([, amount]) => /[nu]$|e-/.test(String(amount)));
  if (fine.length === 0) return amounts;
  const round = (amount: Json | undefined) => parseQuantity(String(amount)).roundUp(-3).toString();
  return { ...amounts, ...Object.fromEntries(fine.map(([name, amount]) => [name, round(amount)])) };
}

export const rounded = computed(roundAmounts);

/** Requests default to limits. */
const requestsFromLimits = computed((resources) => {
  if (!isJsonObject(resources) || !isJsonObject(resources.limits)) return resources;
  const [limits, asked] = [resources.limits, recordOf(resources.requests)];
  if (Object.keys(limits).every((name) => Object.hasOwn(asked, name))) return resources;
  return { ...resources, requests: { ...limits, ...asked } };
});

/** Amounts of a claim for storage, by where its spec is. */
export const claimSpecDefaults: DefaultsTable = {
  volumeMode: 'Filesystem',
  'resources.limits': rounded,
  'resources.requests': rounded,
};

const httpGet: DefaultsTable = { path: '/', scheme: 'HTTP' };

const probe: DefaultsTable = {
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
  ...prefixed('httpGet', httpGet),
  'grpc.service': '',
};

const container: DefaultsTable = {
  imagePullPolicy: ({ image }) => pullPolicyFor(image),
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  'ports[].protocol': 'TCP',
  'env[].valueFrom.fieldRef.apiVersion': 'v1',
  'env[].valueFrom.fileKeyRef.optional': false,
  'resources.limits': rounded,
  'resources.requests': rounded,
  ...prefixed('livenessProbe', probe),
  ...prefixed('readinessProbe', probe),
  ...prefixed('startupProbe', probe),
  ...prefixed('lifecycle.postStart.httpGet', httpGet),
  ...prefixed('lifecycle.preStop.httpGet', httpGet),
};

const volume: DefaultsTable = {
  emptyDir: (volume) => (Object.keys(volume).some((field) => field !== 'name') ? undefined : {}),
  'image.pullPolicy': ({ reference }) => pullPolicyFor(reference),
  'hostPath.type': '',
  'secret.defaultMode': 0o644,
  'configMap.defaultMode': 0o644,
  'downwardAPI.defaultMode': 0o644,
  'downwardAPI.items[].fieldRef.apiVersion': 'v1',
  'projected.defaultMode': 0o644,
  'projected.sources[].downwardAPI.items[].fieldRef.apiVersion': 'v1',
  'projected.sources[].serviceAccountToken.expirationSeconds': 3600,
  'iscsi.iscsiInterface': 'default',
  'rbd.pool': 'rbd',
  'rbd.user': 'admin',
  'rbd.keyring': '/etc/ceph/keyring',
  'azureDisk.cachingMode': 'ReadWrite',
  'azureDisk.fsType': 'ext4',
  'azureDisk.readOnly': false,
  'azureDisk.kind': 'Shared',
  'scaleIO.storageMode': 'ThinProvisioned',
  'scaleIO.fsType': 'xfs',
  ...prefixed('ephemeral.volumeClaimTemplate.spec', claimSpecDefaults),
};

/** The defaults of every Pod spec, wherever it stands. */
export const podSpecDefaults: DefaultsTable = {
  ...prefixed('volumes[]', volume),
  ...prefixed('initContainers[]', container),
  ...prefixed('containers[]', container),
  ...prefixed('ephemeralContainers[]', container),
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  // The old name of the field: both are shown, and the new one counts.
  serviceAccountName: ({ serviceAccount }) => serviceAccount,
  serviceAccount: computed((_, { serviceAccountName }) => serviceAccountName),
  securityContext: {},
  schedulerName: 'default-scheduler',
  overhead: rounded,
  'resources.limits': rounded,
  'resources.requests': rounded,
};

/** On the network of its node, a port of a container is a port of the node. */
function hostPort(port: JsonObject, pod: JsonObject): Json | undefined {
  return recordOf(pod.spec).hostNetwork === true ? port.containerPort : undefined;
}

/** The defaults of Pods, beyond those of every spec. */
export const podDefaults: DefaultsTable = {
  'spec.containers[].resources': requestsFromLimits,
  'spec.initContainers[].resources': requestsFromLimits,
  'spec.resources': computed((resources, spec) =>
    isJsonObject(resources) ? withPodTotals(resources, spec) : resources,
  ),
  'spec.containers[].ports[].hostPort': hostPort,
  'spec.initContainers[].ports[].hostPort': hostPort,
  'spec.enableServiceLinks': true,
  ...prefixed('spec', podSpecDefaults),
  'spec.terminationGracePeriodSeconds': computed((seconds = 30) => (Number(seconds) < 0 ? 1 : seconds)),
  // The first of a Pod's addresses is the one that existed before there could be several.
  'status.podIPs': computed((ips, { podIP }) => addresses(ips, podIP)),
  'status.podIP': computed((ip, { podIPs }) => (Array.isArray(podIPs) ? recordOf(podIPs[0]).ip : ip)),
};

function addresses(all: Json | undefined, first: Json | undefined): Json | undefined {
  if (textOf(first) === '') return all;
  const known = Array.isArray(all) ? recordOf(all[0]).ip : undefined;
  return known === first ? all : [{ ip: first as string }];
}
