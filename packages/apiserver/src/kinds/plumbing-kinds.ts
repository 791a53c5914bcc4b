import { clusterRoleBindingRules, clusterRoleRules, roleBindingRules, roleRules } from './access/rbac.js';
import { configMapRules } from './config/config-map.js';
import { leaseRules } from './config/lease.js';
import { namespaceRules } from './config/namespace.js';
import { secretRules } from './config/secret.js';
import { coreEventRules, eventRules } from './events/event.js';
import type { KindRules } from './kind-rules.js';
import { endpointSliceRules } from './network/endpoint-slice.js';
import { endpointsRules } from './network/endpoints.js';
import { ingressRules } from './network/ingress.js';
import { ingressClassRules } from './network/ingress-class.js';
import { networkPolicyRules } from './network/network-policy.js';
import { serviceRules } from './network/service.js';

/** What workloads need around them, by `group/plural` or `group/version/plural`. */
export const plumbingKinds: Readonly<Record<string, () => KindRules>> = {
  '/configmaps': () => configMapRules,
  '/endpoints': () => endpointsRules,
  '/events': () => coreEventRules,
  '/namespaces': () => namespaceRules,
  '/secrets': () => secretRules,
  '/services': () => serviceRules,
  'coordination.k8s.io/leases': () => leaseRules,
  'discovery.k8s.io/endpointslices': () => endpointSliceRules,
  'events.k8s.io/events': () => eventRules,
  'networking.k8s.io/ingressclasses': () => ingressClassRules,
  'networking.k8s.io/ingresses': () => ingressRules,
  'networking.k8s.io/networkpolicies': () => networkPolicyRules,
  'rbac.authorization.k8s.io/clusterrolebindings': () => clusterRoleBindingRules,
  'rbac.authorization.k8s.io/clusterroles': () => clusterRoleRules,
  'rbac.authorization.k8s.io/rolebindings': () => roleBindingRules,
  'rbac.authorization.k8s.io/roles': () => roleRules,
};
