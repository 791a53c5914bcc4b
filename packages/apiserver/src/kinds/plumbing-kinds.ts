import { certificateSigningRequestRules } from './access/certificate-signing-request.js';
import { clusterRoleBindingRules, clusterRoleRules, roleBindingRules, roleRules } from './access/rbac.js';
import { mutatingPolicyRules } from './admission/mutating-policy.js';
import { mutatingBindingRules, validatingBindingRules } from './admission/policy-binding.js';
import { validatingPolicyRules } from './admission/validating-policy.js';
import { apiServiceRules } from './cluster/api-service.js';
import { flowSchemaRules, priorityLevelRules } from './cluster/flow-control.js';
import { nodeRules } from './cluster/node.js';
import { runtimeClassRules } from './cluster/runtime-class.js';
import { mutatingWebhookRules, validatingWebhookRules } from './cluster/webhook-configuration.js';
import { configMapRules } from './config/config-map.js';
import { leaseRules } from './config/lease.js';
import { limitRangeRules } from './config/limit-range.js';
import { namespaceRules } from './config/namespace.js';
import { resourceQuotaRules } from './config/resource-quota.js';
import { secretRules } from './config/secret.js';
import { serviceAccountRules } from './config/service-account.js';
import { coreEventRules, eventRules } from './events/event.js';
import type { KindRules } from './kind-rules.js';
import { endpointSliceRules } from './network/endpoint-slice.js';
import { endpointsRules } from './network/endpoints.js';
import { ingressRules } from './network/ingress.js';
import { ingressClassRules } from './network/ingress-class.js';
import { networkPolicyRules } from './network/network-policy.js';
import { serviceRules } from './network/service.js';
import { ipAddressRules, serviceCidrRules } from './network/service-addresses.js';
import { persistentVolumeRules } from './storage/persistent-volume.js';
import { persistentVolumeClaimRules } from './storage/persistent-volume-claim.js';
import { storageClassRules } from './storage/storage-class.js';

/** What workloads need around them, by `group/plural` or `group/version/plural`. */
export const plumbingKinds: Readonly<Record<string, () => KindRules>> = {
  '/configmaps': () => configMapRules,
  '/endpoints': () => endpointsRules,
  '/events': () => coreEventRules,
  '/limitranges': () => limitRangeRules,
  '/namespaces': () => namespaceRules,
  '/nodes': () => nodeRules,
  '/persistentvolumeclaims': () => persistentVolumeClaimRules,
  '/persistentvolumes': () => persistentVolumeRules,
  '/resourcequotas': () => resourceQuotaRules,
  '/secrets': () => secretRules,
  '/serviceaccounts': () => serviceAccountRules,
  '/services': () => serviceRules,
  'admissionregistration.k8s.io/mutatingadmissionpolicies': () => mutatingPolicyRules,
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings': () => mutatingBindingRules,
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': () => mutatingWebhookRules,
  'admissionregistration.k8s.io/validatingadmissionpolicies': () => validatingPolicyRules,
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': () => validatingBindingRules,
  'admissionregistration.k8s.io/validatingwebhookconfigurations': () => validatingWebhookRules,
  'apiregistration.k8s.io/apiservices': () => apiServiceRules,
  'certificates.k8s.io/certificatesigningrequests': () => certificateSigningRequestRules,
  'coordination.k8s.io/leases': () => leaseRules,
  'discovery.k8s.io/endpointslices': () => endpointSliceRules,
  'events.k8s.io/events': () => eventRules,
  'flowcontrol.apiserver.k8s.io/flowschemas': () => flowSchemaRules,
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': () => priorityLevelRules,
  'networking.k8s.io/ingressclasses': () => ingressClassRules,
  'networking.k8s.io/ingresses': () => ingressRules,
  'networking.k8s.io/ipaddresses': () => ipAddressRules,
  'networking.k8s.io/networkpolicies': () => networkPolicyRules,
  'networking.k8s.io/servicecidrs': () => serviceCidrRules,
  'node.k8s.io/runtimeclasses': () => runtimeClassRules,
  'rbac.authorization.k8s.io/clusterrolebindings': () => clusterRoleBindingRules,
  'rbac.authorization.k8s.io/clusterroles': () => clusterRoleRules,
  'rbac.authorization.k8s.io/rolebindings': () => roleBindingRules,
  'rbac.authorization.k8s.io/roles': () => roleRules,
  'storage.k8s.io/storageclasses': () => storageClassRules,
};
