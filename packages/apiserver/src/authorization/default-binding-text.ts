/**
 * The bindings that kube-apiserver v1.36 makes when it starts, as text: the name of a binding, then whom it is for. It
 * binds the role of its own name, unless another is named.
 */
export const defaultClusterRoleBindingText = `
cluster-admin
  group system:masters
system:basic-user
  group system:authenticated
system:discovery
  group system:authenticated
system:kube-controller-manager
  user system:kube-controller-manager
system:kube-dns
  account kube-system/kube-dns
system:kube-scheduler
  user system:kube-scheduler
system:monitoring
  group system:monitoring
system:node
system:node-proxier
  user system:kube-proxy
system:public-info-viewer
  group system:authenticated
  group system:unauthenticated
system:service-account-issuer-discovery
  group system:serviceaccounts
system:volume-scheduler
  user system:kube-scheduler
`;

/** Controllers whose ServiceAccount in `kube-system` is bound to a ClusterRole of their own, `system:controller:…`. */
export const boundControllers: readonly string[] = [
  'attachdetach-controller',
  'certificate-controller',
  'clusterrole-aggregation-controller',
  'cronjob-controller',
  'daemon-set-controller',
  'deployment-controller',
  'device-taint-eviction-controller',
  'disruption-controller',
  'endpoint-controller',
  'endpointslice-controller',
  'endpointslicemirroring-controller',
  'ephemeral-volume-controller',
  'expand-controller',
  'generic-garbage-collector',
  'horizontal-pod-autoscaler',
  'job-controller',
  'legacy-service-account-token-cleaner',
  'namespace-controller',
  'node-controller',
  'persistent-volume-binder',
  'pod-garbage-collector',
  'pv-protection-controller',
  'pvc-protection-controller',
  'replicaset-controller',
  'replication-controller',
  'resource-claim-controller',
  'resourcequota-controller',
  'root-ca-cert-publisher',
  'route-controller',
  'selinux-warning-controller',
  'service-account-controller',
  'service-cidrs-controller',
  'service-controller',
  'statefulset-controller',
  'ttl-after-finished-controller',
  'ttl-controller',
  'validatingadmissionpolicy-status-controller',
  'volumeattributesclass-protection-controller',
];

/** The same for RoleBindings, by namespace and name. */
export const defaultRoleBindingText = `
kube-public/system:controller:bootstrap-signer
  account kube-system/bootstrap-signer
kube-system/system::extension-apiserver-authentication-reader = Role extension-apiserver-authentication-reader
  user system:kube-controller-manager
  user system:kube-scheduler
kube-system/system::leader-locking-kube-controller-manager
  user system:kube-controller-manager
  account kube-system/kube-controller-manager
  account kube-system/leader-election-controller
kube-system/system::leader-locking-kube-scheduler
  user system:kube-scheduler
  account kube-system/kube-scheduler
kube-system/system:controller:bootstrap-signer
  account kube-system/bootstrap-signer
kube-system/system:controller:cloud-provider
  account kube-system/cloud-provider
kube-system/system:controller:token-cleaner
  account kube-system/token-cleaner
`;
