import type { JsonObject } from 'riata/object';
import { rulesOfKind } from '../../kinds/rules-of-kind.js';
import { withUnenforced } from '../../kinds/unenforced.js';
import type { CrdObject } from '../../schema/crd/crd-object.js';
import { crdWarnings } from '../../schema/crd/validate-crd.js';
import {
  checkDefinition,
  cleanupFinalizer,
  defaultDefinition,
  prepareDefinition,
  whenDefinitionGoes,
} from '../custom/crd-status.js';
import { textOf, valueAt } from '../metadata.js';
import type { ResourceRules } from '../resource.js';

/** `group/plural` of kinds with `metadata.generation`. */
const counting: ReadonlySet<string> = new Set(
  [
    'admissionregistration.k8s.io/ mutatingadmissionpolicies mutatingadmissionpolicybindings mutatingwebhookconfigurations validatingadmissionpolicies validatingadmissionpolicybindings validatingwebhookconfigurations',
    'apiextensions.k8s.io/ customresourcedefinitions',
    'apps/ daemonsets deployments replicasets statefulsets',
    'batch/ cronjobs jobs',
    '/ pods podtemplates replicationcontrollers',
    'discovery.k8s.io/ endpointslices',
    'flowcontrol.apiserver.k8s.io/ flowschemas prioritylevelconfigurations',
    'networking.k8s.io/ ingresses ingressclasses networkpolicies',
    'policy/ poddisruptionbudgets',
    'resource.k8s.io/ deviceclasses devicetaintrules resourceslices',
  ].flatMap(expand),
);

/** Kinds for which PUT creates missing objects. */
const creating: ReadonlySet<string> = new Set(
  [
    'node.k8s.io/ runtimeclasses',
    'rbac.authorization.k8s.io/ roles rolebindings clusterroles clusterrolebindings',
    'coordination.k8s.io/ leases leasecandidates',
    '/ limitranges events services endpoints',
    'events.k8s.io/ events',
  ].flatMap(expand),
);

/** Kinds for which PUT requires a resourceVersion. */
const conditional: ReadonlySet<string> = new Set(
  [
    'admissionregistration.k8s.io/ mutatingadmissionpolicies mutatingadmissionpolicybindings mutatingwebhookconfigurations validatingadmissionpolicies validatingadmissionpolicybindings validatingwebhookconfigurations',
    'apiextensions.k8s.io/ customresourcedefinitions',
    'internal.apiserver.k8s.io/ storageversions',
    'certificates.k8s.io/ clustertrustbundles podcertificaterequests',
    'coordination.k8s.io/ leases leasecandidates',
    'node.k8s.io/ runtimeclasses',
    'policy/ poddisruptionbudgets',
    'storage.k8s.io/ csidrivers csinodes csistoragecapacities volumeattachments',
    'storagemigration.k8s.io/ storageversionmigrations',
  ].flatMap(expand),
);

/** Kinds for which DELETE returns the object. */
const answering: ReadonlySet<string> = new Set(
  [
    '/ namespaces persistentvolumes persistentvolumeclaims pods podtemplates resourcequotas services serviceaccounts',
    'resource.k8s.io/ deviceclasses devicetaintrules resourceclaims resourceclaimtemplates resourceslices',
    'storage.k8s.io/ csidrivers csinodes storageclasses volumeattachments volumeattributesclasses',
  ].flatMap(expand),
);

/** Kinds whose status writes cannot change metadata. For other kinds they can, except for these fields. */
const metaKeeping: ReadonlySet<string> = new Set(
  [
    'admissionregistration.k8s.io/ validatingadmissionpolicies',
    'apiregistration.k8s.io/ apiservices',
    'certificates.k8s.io/ podcertificaterequests',
    'flowcontrol.apiserver.k8s.io/ flowschemas prioritylevelconfigurations',
    'internal.apiserver.k8s.io/ storageversions',
    'networking.k8s.io/ servicecidrs',
    'resource.k8s.io/ resourceclaims devicetaintrules',
    'storage.k8s.io/ volumeattachments',
    'storagemigration.k8s.io/ storageversionmigrations',
  ].flatMap(expand),
);
const fieldKeeping: Readonly<Record<string, readonly string[]>> = {
  'apps/deployments': ['labels'],
  '/pods': ['ownerReferences'],
};

/** Fields that selectors may name, as paths into the object. */
const selectable: Readonly<Record<string, readonly string[]>> = {
  '/pods': [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'status.podIPs',
    'status.nominatedNodeName',
  ],
  '/nodes': ['spec.unschedulable'],
  '/services': ['spec.clusterIP', 'spec.type'],
  '/replicationcontrollers': ['status.replicas'],
  '/namespaces': ['status.phase'],
  '/secrets': ['type'],
  '/events': [...eventFields('involvedObject'), 'reportingComponent', 'source'],
  'events.k8s.io/events': [...eventFields('regarding'), 'reportingController'],
  'apps/replicasets': ['status.replicas'],
  'batch/jobs': ['status.successful'],
  'certificates.k8s.io/certificatesigningrequests': ['spec.signerName'],
  'certificates.k8s.io/clustertrustbundles': ['spec.signerName'],
  'certificates.k8s.io/podcertificaterequests': ['spec.signerName', 'spec.podName', 'spec.nodeName'],
  'resource.k8s.io/resourceslices': ['spec.nodeName', 'spec.driver'],
};

/** Paths of selectable fields in the stored object, where they differ from the name. */
const readFrom: Readonly<Record<string, string>> = {
  'status.successful': 'status.succeeded',
  reportingController: 'reportingComponent',
  source: 'source.component',
  'status.podIPs': 'status.podIPs.0.ip',
};

/** Values of selectable fields that are missing. */
const whenAbsent: Readonly<Record<string, (object: JsonObject) => string>> = {
  'spec.unschedulable': () => 'false',
  'spec.hostNetwork': () => 'false',
  'status.replicas': () => '0',
  'status.successful': () => '0',
  source: ({ reportingComponent }) => textOf(reportingComponent),
};

/** Kinds with defaults that the server fills in, beyond those of the schema. */
const special: Readonly<Record<string, Partial<ResourceRules>>> = {
  'apiextensions.k8s.io/customresourcedefinitions': {
    defaults: defaultDefinition,
    prepare: prepareDefinition,
    checkInSteps: checkDefinition,
    warnings: (definition, before) =>
      crdWarnings(definition as unknown as CrdObject, before as unknown as CrdObject | undefined),
    finalizersOnDelete: [cleanupFinalizer],
    whenDeleting: whenDefinitionGoes,
  },
};

/** The rules of a built-in kind. */
export function builtInRules(group: string, version: string, plural: string): ResourceRules {
  const id = `${group}/${plural}`;
  const fieldNames = selectable[id] ?? [];
  const ofKind = { ...rulesOfKind(group, version, plural), ...special[id] };
  return {
    countsGenerations: counting.has(id),
    countsLabels: id === 'discovery.k8s.io/endpointslices',
    createsOnUpdate: creating.has(id),
    answersDeleted: answering.has(id),
    updatesUnconditionally: !conditional.has(id),
    statusKeeps: metaKeeping.has(id) ? 'all' : (fieldKeeping[id] ?? []),
    fieldNames,
    fields: fieldNames.length === 0 ? undefined : (object) => fieldsOf(object, fieldNames),
    gracePeriodSeconds: id === '/pods' ? podGrace : undefined,
    ...ofKind,
    ...withUnenforced(id, ofKind),
    defaultPropagation: id === 'batch/jobs' || id === '/replicationcontrollers' ? 'orphan' : 'background',
  };
}

function expand(line: string): string[] {
  const [group = '', ...plurals] = line.split(' ');
  return plurals.map((plural) => `${group}${plural}`);
}

function eventFields(about: string): string[] {
  const parts = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];
  return [...parts.map((part) => `${about}.${part}`), 'reason', 'type'];
}

function fieldsOf(object: JsonObject, fieldNames: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    fieldNames.map((name) => {
      const value = valueAt(object, readFrom[name] ?? name.replace(/^regarding\./, 'involvedObject.'));
      return [name, value === undefined || value === null ? (whenAbsent[name]?.(object) ?? '') : String(value)];
    }),
  );
}

/** A Pod that was never started, or that has ended, is deleted without a grace period. */
function podGrace(pod: JsonObject, asked: number | undefined): number {
  const phase = textOf(valueAt(pod, 'status.phase'));
  if (textOf(valueAt(pod, 'spec.nodeName')) === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  const own = valueAt(pod, 'spec.terminationGracePeriodSeconds');
  return Math.max(0, asked ?? (typeof own === 'number' ? own : 30));
}
