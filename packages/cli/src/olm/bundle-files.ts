import type { WriteObject } from 'riata/client';
import { objectsToYaml } from 'riata/patterns';
import { CommandError } from '../command/command-error.js';
import type { GeneratedFile } from '../command/generated-files.js';
import type { Operator } from '../config/resolve-operator.js';
import { crdManifests } from '../manifests/crd-manifests.js';
import { operatorObjects } from '../manifests/operator-objects.js';
import { refuseSecrets } from '../manifests/refuse-secrets.js';
import { clusterServiceVersion, type ProjectMetadata } from './cluster-service-version.js';
import { csvPermissions } from './csv-permissions.js';

/** What {@link bundleFiles} takes beside the operator. */
export interface BundleOptions {
  readonly channels: readonly string[];
  readonly defaultChannel: string;
  readonly project: ProjectMetadata;
  readonly replaces?: string | undefined;
}

/** Kinds that OLM takes beside a ClusterServiceVersion and definitions. */
const supported: ReadonlySet<string> = new Set([
  ...['ClusterRole', 'ClusterRoleBinding', 'ConfigMap', 'PodDisruptionBudget', 'PriorityClass', 'PrometheusRule'],
  ...['Role', 'RoleBinding', 'Secret', 'Service', 'ServiceAccount', 'ServiceMonitor', 'VerticalPodAutoscaler'],
]);

/** Kinds that OLM, or the ClusterServiceVersion, has instead. */
const replaced: ReadonlySet<string> = new Set([
  ...['Namespace', 'CustomResourceDefinition', 'Deployment', 'Certificate', 'Issuer'],
  ...['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'],
]);

const semver = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/;

/** The files of an OLM bundle, and the objects that OLM doesn't take. */
export async function bundleFiles(
  given: Operator,
  options: BundleOptions,
): Promise<{ readonly files: GeneratedFile[]; readonly leftOut: readonly WriteObject[] }> {
  if (!semver.test(given.version)) {
    throw new CommandError(
      `version "${given.version}" is not a semantic version, which OLM requires; set version in the config`,
    );
  }
  const operator = underOlm(given);
  const { name } = operator;
  const objects = await operatorObjects(operator);
  refuseSecrets(objects);
  const crds = await crdManifests(operator.kinds);
  const csv = clusterServiceVersion({ ...options, operator, objects, crds });
  const { others } = csvPermissions(objects, name);
  const isWebhookService = ({ kind, spec }: WriteObject & { readonly spec?: unknown }) =>
    kind === 'Service' && JSON.stringify(spec ?? {}).includes('"name":"webhooks"');
  const rest = others.filter((object) => !replaced.has(object.kind) && !isWebhookService(object));
  const kept = rest.filter(({ kind }) => supported.has(kind));
  const file = async (path: string, object: object) => ({ path, text: await objectsToYaml([object]) });
  const files = await Promise.all([
    file(`manifests/${name}.clusterserviceversion.yaml`, csv),
    ...crds.map((crd) => file(`manifests/${crd.metadata.name}.crd.yaml`, crd)),
    ...kept.map((object) =>
      // OLM decides on the namespace.
      file(`manifests/${object.metadata.name}.${object.kind.toLowerCase()}.yaml`, withoutNamespace(object)),
    ),
    file('metadata/annotations.yaml', { annotations: annotationsOf(name, options) }),
  ]);
  const leftOut = rest.filter(({ kind }) => !supported.has(kind));
  return { files: [...files, { path: 'bundle.Dockerfile', text: dockerfile(name, options) }], leftOut };
}

/** OLM mounts the certificates of webhooks and writes their configurations: the program has to leave both to it. */
function underOlm(operator: Operator): Operator {
  if (operator.webhooks.length === 0) return operator;
  const webhooks = { ...operator.options.webhooks, certificates: { ...olmCertificates }, install: false };
  return { ...operator, options: { ...operator.options, webhooks } };
}

/** Where OLM mounts them; it is the folder of cert-manager's, too. */
const olmCertificates = {
  certFile: '/tmp/k8s-webhook-server/serving-certs/tls.crt',
  keyFile: '/tmp/k8s-webhook-server/serving-certs/tls.key',
};

function withoutNamespace(object: WriteObject): object {
  const { namespace: _, ...metadata } = object.metadata as { readonly namespace?: string };
  return { ...object, metadata };
}

function annotationsOf(name: string, { channels, defaultChannel }: BundleOptions): Readonly<Record<string, string>> {
  const prefix = 'operators.operatorframework.io.bundle';
  return {
    [`${prefix}.mediatype.v1`]: 'registry+v1',
    [`${prefix}.manifests.v1`]: 'manifests/',
    [`${prefix}.metadata.v1`]: 'metadata/',
    [`${prefix}.package.v1`]: name,
    [`${prefix}.channels.v1`]: channels.join(','),
    [`${prefix}.channel.default.v1`]: defaultChannel,
  };
}

function dockerfile(name: string, options: BundleOptions): string {
  const labels = Object.entries(annotationsOf(name, options)).map(([key, value]) => `LABEL ${key}=${value}`);
  return ['FROM scratch', '', ...labels, '', 'COPY manifests /manifests/', 'COPY metadata /metadata/', ''].join('\n');
}
