import type { WriteObject } from 'riata/client';
import { Namespace } from 'riata/kinds';
import { isOperatorConfig, type OperatorConfig } from '../config/operator.js';
import { type Operator, resolveOperator } from '../config/resolve-operator.js';
import { accessRoles } from './access-roles.js';
import { crdManifests } from './crd-manifests.js';
import { checkDeploymentOptions, type DeploymentOptions } from './deployment-options.js';
import { type DeploymentSite, deploymentSite } from './deployment-site.js';
import { monitoringObjects } from './monitoring-objects.js';
import { metricsObjects, networkPolicyObjects, webhookObjects } from './network-objects.js';
import { rightsObjects } from './operator-rights.js';
import { workloadObjects } from './workload-objects.js';

/**
 * All objects that an operator needs in a cluster, derived from its definitions: its Namespace, CustomResourceDefinitions,
 * a ServiceAccount with exactly the rights that it needs, roles for its users, a Deployment whose Pods pass PodSecurity
 * `restricted`, a PodDisruptionBudget, Services, a NetworkPolicy, webhook configurations, and monitoring if asked for. In
 * the order in which they can be applied, and the same for the same operator. Change them by code, as plain objects.
 *
 * @example
 * export default operator({ …, objects: (operator) => deployment(operator, { replicas: 2, monitoring: true }) });
 */
export async function deployment(
  operator: OperatorConfig | Operator,
  options: DeploymentOptions = {},
): Promise<WriteObject[]> {
  checkDeploymentOptions(`deployment "${operator.name}"`, options);
  const resolved = isOperatorConfig(operator) ? await resolveOperator(operator) : operator;
  const { crds = true, createNamespace = true, accessRoles: hasAccessRoles = true } = options;
  const site = deploymentSite(resolved, options, await crdManifests(resolved.kinds));
  const webhooks = webhookObjects(site);
  const isOf = (kind: string) => (object: WriteObject) => object.kind.endsWith(kind);
  const definitions = webhooks.filter(isOf('CustomResourceDefinition'));
  const configurations = webhooks.filter(isOf('WebhookConfiguration'));
  const others = webhooks.filter((object) => !definitions.includes(object) && !configurations.includes(object));
  const objects = [
    ...(createNamespace ? [namespaceObject(site)] : []),
    ...(crds ? definitions : []),
    ...rightsObjects(site),
    ...(hasAccessRoles ? accessRoles(site) : []),
    ...others,
    ...metricsObjects(site),
    ...workloadObjects(site, webhooks),
    ...networkPolicyObjects(site),
    ...monitoringObjects(site),
    // Last: from then on the API server calls the operator.
    ...configurations,
  ];
  return objects.map((object) => labelled(object, site.labels));
}

function namespaceObject({ namespace }: DeploymentSite): WriteObject {
  const modes = ['enforce', 'audit', 'warn'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']);
  return Namespace({ metadata: { name: namespace, labels: Object.fromEntries(modes) } });
}

function labelled<T extends WriteObject>(object: T, labels: Readonly<Record<string, string>>): T {
  const {
    name,
    namespace,
    labels: own,
    ...rest
  } = object.metadata as {
    readonly name?: string;
    readonly namespace?: string;
    readonly labels?: object;
  };
  const metadata = { name, ...(namespace !== undefined && { namespace }), labels: { ...labels, ...own }, ...rest };
  const { apiVersion, kind, metadata: _, ...body } = object;
  return { apiVersion, kind, metadata, ...body } as unknown as T;
}
