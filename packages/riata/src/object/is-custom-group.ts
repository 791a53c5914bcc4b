/** The groups that Kubernetes itself serves and whose names look like domains; any other such group is custom. */
const builtInGroups: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'certificates.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'internal.apiserver.k8s.io',
  'networking.k8s.io',
  'node.k8s.io',
  'rbac.authorization.k8s.io',
  'resource.k8s.io',
  'scheduling.k8s.io',
  'storage.k8s.io',
  'storagemigration.k8s.io',
]);

/**
 * True for a group whose kinds a CustomResourceDefinition (or an aggregated API server) brings, also where it ends in
 * `.k8s.io`, as `gateway.networking.k8s.io` does.
 */
export function isCustomGroup(group: string): boolean {
  return group.includes('.') && !builtInGroups.has(group);
}
