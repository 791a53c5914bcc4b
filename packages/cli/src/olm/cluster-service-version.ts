import type { WriteObject } from 'riata/client';
import type { Deployment, ValidatingWebhookConfiguration } from 'riata/kinds';
import type { CrdManifest } from 'riata/object';
import { oldestMinor } from '../command/kubernetes-versions.js';
import type { Operator } from '../config/resolve-operator.js';
import { descriptorsOf, words } from './csv-descriptors.js';
import { csvPermissions } from './csv-permissions.js';
import { partSchema, schemaExample } from './schema-example.js';

/** What a package.json says about who makes an operator. */
export interface ProjectMetadata {
  readonly author?: string | { readonly name?: string; readonly email?: string };
  readonly keywords?: readonly string[];
  readonly homepage?: string;
  readonly repository?: string | { readonly url?: string };
}

/** What a {@link clusterServiceVersion} is made from. */
export interface CsvParts {
  readonly operator: Operator;
  /** Of the operator, all of them. */
  readonly objects: readonly WriteObject[];
  readonly crds: readonly CrdManifest[];
  readonly project: ProjectMetadata;
  /** The version that this one replaces. */
  readonly replaces?: string | undefined;
}

type WebhookConfiguration = ReturnType<typeof ValidatingWebhookConfiguration>;

/** OLM's description of one version of an operator: what it owns, how it is installed, and what it may do. */
export function clusterServiceVersion(parts: CsvParts): WriteObject {
  const { operator, objects, crds, project, replaces } = parts;
  const { name, version, description, image } = operator;
  const { permissions, clusterPermissions } = csvPermissions(objects, name);
  const webhooks = webhookDefinitions(parts);
  const author = authorOf(project);
  const metadata = {
    name: `${name}.v${version}`,
    namespace: 'placeholder',
    annotations: {
      'alm-examples': JSON.stringify(crds.flatMap(examplesOf), null, 2),
      capabilities: 'Basic Install',
      containerImage: deploymentsOf(objects)[0]?.spec?.template.spec?.containers[0]?.image ?? image,
      description,
    },
  };
  const spec = {
    displayName: words(name),
    description,
    version,
    ...(replaces !== undefined && { replaces: `${name}.v${replaces}` }),
    minKubeVersion: `1.${oldestMinor}.0`,
    maturity: /^0\./.test(version) ? 'alpha' : 'stable',
    provider: { name: author.name ?? words(name) },
    ...(author.name && author.email && { maintainers: [{ name: author.name, email: author.email }] }),
    ...(project.keywords?.length && { keywords: project.keywords }),
    ...(project.homepage && { links: [{ name: words(name), url: project.homepage }] }),
    installModes: installModes(operator),
    customresourcedefinitions: { owned: crds.flatMap((crd) => ownedOf(crd)) },
    install: {
      strategy: 'deployment',
      spec: {
        ...(permissions.length > 0 && { permissions }),
        ...(clusterPermissions.length > 0 && { clusterPermissions }),
        deployments: deploymentsOf(objects).map((each) => ({
          name: each.metadata.name,
          ...(each.metadata.labels && { label: each.metadata.labels }),
          spec: each.spec,
        })),
      },
    },
    ...(webhooks.length > 0 && { webhookdefinitions: webhooks }),
  };
  return { apiVersion: 'operators.coreos.com/v1alpha1', kind: 'ClusterServiceVersion', metadata, spec } as WriteObject;
}

function deploymentsOf(objects: readonly WriteObject[]): ReturnType<typeof Deployment>[] {
  return objects.filter(({ kind }) => kind === 'Deployment') as ReturnType<typeof Deployment>[];
}

/** An operator whose cache is limited to its own namespace runs there alone; any other one for the whole cluster. */
function installModes({ options, namespace, webhooks }: Operator) {
  const converts = webhooks.some(({ targets }) => targets.some(({ type }) => type === 'conversion'));
  const places = options.cache?.namespaces;
  const isOwn = !converts && places !== undefined && places.every((place) => place === namespace);
  return [
    { type: 'OwnNamespace', supported: isOwn },
    { type: 'SingleNamespace', supported: false },
    { type: 'MultiNamespace', supported: false },
    { type: 'AllNamespaces', supported: !isOwn },
  ];
}

function ownedOf({ metadata, spec }: CrdManifest) {
  const { names } = spec;
  return spec.versions
    .filter(({ served }) => served)
    .map(({ name: version, schema: { openAPIV3Schema: schema } }) => {
      const specDescriptors = descriptorsOf(schema, 'spec');
      const statusDescriptors = descriptorsOf(schema, 'status');
      return {
        ...{ name: metadata.name, version, kind: names.kind, displayName: words(names.kind) },
        description: schema.description ?? `A ${words(names.kind)}.`,
        ...(specDescriptors.length > 0 && { specDescriptors }),
        ...(statusDescriptors.length > 0 && { statusDescriptors }),
      };
    });
}

/** One object of each served version; the stored one comes first. */
function examplesOf({ spec }: CrdManifest) {
  const served = spec.versions.filter((version) => version.served);
  const sorted = [...served.filter(({ storage }) => storage), ...served.filter(({ storage }) => !storage)];
  return sorted.map(({ name, schema: { openAPIV3Schema } }) => {
    const schema = partSchema(openAPIV3Schema, 'spec');
    return {
      apiVersion: `${spec.group}/${name}`,
      kind: spec.names.kind,
      metadata: { name: `${spec.names.singular}-sample` },
      ...(schema && { spec: schemaExample(schema) }),
    };
  });
}

/** Webhooks in OLM's form: it makes their Service, certificate and configurations. */
function webhookDefinitions({ operator, objects }: CsvParts): object[] {
  const { port: targetPort = 9443 } = operator.options.webhooks ?? {};
  const common = { deploymentName: operator.name, containerPort: 443, targetPort };
  const admission = (kind: string, type: string) =>
    (objects.filter((object) => object.kind === kind) as WebhookConfiguration[]).flatMap(({ webhooks = [] }) =>
      webhooks
        .filter(({ name }) => name !== 'probe.webhooks.riata.dev')
        .map((webhook) => {
          const { name, clientConfig, namespaceSelector: _, matchConditions: __, ...rest } = webhook;
          return { type, generateName: name, ...common, webhookPath: clientConfig?.service?.path, ...rest };
        }),
    );
  const conversions = operator.webhooks.flatMap(({ name, targets }) => {
    const converting = targets.filter((target) => target.type === 'conversion');
    return converting.map(({ path, kind }) => ({
      ...{
        type: 'ConversionWebhook',
        generateName: `${name.toLowerCase().replace(/[^a-z0-9.-]/g, '-')}.${kind.group}`,
      },
      ...common,
      webhookPath: path,
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      conversionCRDs: [`${kind.plural}.${kind.group}`],
    }));
  });
  return [
    ...admission('MutatingWebhookConfiguration', 'MutatingAdmissionWebhook'),
    ...admission('ValidatingWebhookConfiguration', 'ValidatingAdmissionWebhook'),
    ...conversions,
  ];
}

function authorOf({ author }: ProjectMetadata): { readonly name?: string; readonly email?: string } {
  if (typeof author === 'object') return author;
  const [, name, email] = /^([^<(]*?)\s*(?:<([^>]*)>)?\s*(?:\(.*\))?$/.exec(author ?? '') ?? [];
  return { ...(name && { name }), ...(email && { email }) };
}
