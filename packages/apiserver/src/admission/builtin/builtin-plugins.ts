import type { AdmissionPlugin } from '../admission.js';
import type { AdmissionParts } from '../admission-parts.js';
import { alwaysAdmit, alwaysDeny } from './always.js';
import { certificateApproval, certificateSigning } from './certificates/certificate-approval.js';
import { certificateSubjectRestriction } from './certificates/certificate-subject-restriction.js';
import { defaultIngressClass } from './default-ingress-class.js';
import { denyServiceExternalIps } from './deny-service-external-ips.js';
import { namespaceExists } from './namespaces/namespace-exists.js';
import { namespaceLifecycle } from './namespaces/namespace-lifecycle.js';
import { ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement.js';
import { podSecurity } from './pod-security/pod-security.js';
import { alwaysPullImages } from './pods/always-pull-images.js';
import { defaultTolerationSeconds } from './pods/default-toleration-seconds.js';
import { extendedResourceToleration } from './pods/extended-resource-toleration.js';
import { limitPodHardAntiAffinityTopology } from './pods/limit-pod-hard-anti-affinity-topology.js';
import { limitRanger } from './pods/limit-ranger.js';
import { podNodeSelector } from './pods/pod-node-selector.js';
import { podResizeValidator } from './pods/pod-resize-validator.js';
import { podTolerationRestriction } from './pods/pod-toleration-restriction.js';
import { podTopologyLabels } from './pods/pod-topology-labels.js';
import { priority } from './pods/priority.js';
import { runtimeClass } from './pods/runtime-class.js';
import { serviceAccount } from './pods/service-account.js';
import { resourceQuota } from './quota/resource-quota.js';
import { defaultStorageClass } from './storage/default-storage-class.js';
import { persistentVolumeClaimResize } from './storage/persistent-volume-claim-resize.js';
import { storageObjectInUseProtection } from './storage/storage-object-in-use-protection.js';
import { taintNodesByCondition } from './taint-nodes-by-condition.js';

/** Upstream's plugins that need no configuration by objects of their own, by name. */
export const builtinPlugins: Readonly<Record<string, (parts: AdmissionParts) => AdmissionPlugin>> = {
  AlwaysAdmit: alwaysAdmit,
  AlwaysDeny: alwaysDeny,
  AlwaysPullImages: alwaysPullImages,
  CertificateApproval: certificateApproval,
  CertificateSigning: certificateSigning,
  CertificateSubjectRestriction: certificateSubjectRestriction,
  DefaultIngressClass: defaultIngressClass,
  DefaultStorageClass: defaultStorageClass,
  DefaultTolerationSeconds: defaultTolerationSeconds,
  DenyServiceExternalIPs: denyServiceExternalIps,
  ExtendedResourceToleration: extendedResourceToleration,
  LimitPodHardAntiAffinityTopology: limitPodHardAntiAffinityTopology,
  LimitRanger: limitRanger,
  NamespaceExists: namespaceExists,
  NamespaceLifecycle: namespaceLifecycle,
  OwnerReferencesPermissionEnforcement: ownerReferencesPermissionEnforcement,
  PersistentVolumeClaimResize: persistentVolumeClaimResize,
  PodNodeSelector: podNodeSelector,
  PodResizeValidator: podResizeValidator,
  PodSecurity: podSecurity,
  PodTolerationRestriction: podTolerationRestriction,
  PodTopologyLabels: podTopologyLabels,
  Priority: priority,
  ResourceQuota: resourceQuota,
  RuntimeClass: runtimeClass,
  ServiceAccount: serviceAccount,
  StorageObjectInUseProtection: storageObjectInUseProtection,
  TaintNodesByCondition: taintNodesByCondition,
};
