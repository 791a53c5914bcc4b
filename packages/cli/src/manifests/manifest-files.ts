import type { WriteObject } from 'riata/client';
import { objectsToYaml } from 'riata/patterns';
import type { GeneratedFile } from '../command/generated-files.js';

/** How manifests are laid out. */
export type ManifestFormat = 'yaml' | 'kustomize';

/**
 * Objects as YAML files, grouped by what they are for. Their names sort in the order in which they can be applied:
 * `kubectl apply -f` reads a folder in that order. With a `kustomization.yaml` if it should be a base of kustomize.
 */
export async function manifestFiles(
  objects: readonly WriteObject[],
  format: ManifestFormat = 'yaml',
): Promise<GeneratedFile[]> {
  const groups = new Map<string, WriteObject[]>();
  for (const object of objects) {
    const path = manifestFile(object);
    groups.set(path, [...(groups.get(path) ?? []), object]);
  }
  const paths = [...groups.keys()].sort();
  const files = await Promise.all(
    paths.map(async (path) => ({ path, text: await objectsToYaml(groups.get(path) as WriteObject[]) })),
  );
  if (format === 'yaml') return files;
  const kustomization = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources: paths };
  return [...files, { path: 'kustomization.yaml', text: await objectsToYaml([kustomization]) }];
}

/** The file that an object goes to, by what it is for. */
export function manifestFile({ apiVersion, kind, metadata }: WriteObject): string {
  const known = files[kind];
  if (kind === 'CustomResourceDefinition') return `10-crd-${metadata.name}.yaml`;
  if (kind === 'ClusterRole' && Object.keys(metadata.labels ?? {}).some(isAggregation)) return '21-access-roles.yaml';
  if (known !== undefined) return known;
  if (apiVersion.startsWith('monitoring.coreos.com/')) return '60-monitoring.yaml';
  if (apiVersion.startsWith('cert-manager.io/')) return '31-certificates.yaml';
  return `45-${kind.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase()}.yaml`;
}

const files: Readonly<Record<string, string>> = {
  Namespace: '00-namespace.yaml',
  ServiceAccount: '20-rbac.yaml',
  Role: '20-rbac.yaml',
  RoleBinding: '20-rbac.yaml',
  ClusterRole: '20-rbac.yaml',
  ClusterRoleBinding: '20-rbac.yaml',
  Service: '30-services.yaml',
  Deployment: '50-deployment.yaml',
  PodDisruptionBudget: '50-deployment.yaml',
  NetworkPolicy: '40-network-policy.yaml',
  MutatingWebhookConfiguration: '70-webhooks.yaml',
  ValidatingWebhookConfiguration: '70-webhooks.yaml',
};

function isAggregation(label: string): boolean {
  return label.startsWith('rbac.authorization.k8s.io/aggregate-to-');
}
