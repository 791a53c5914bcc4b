import type { WriteObject } from 'riata/client';
import type { JsonObject } from 'riata/object';
import { objectsToYaml } from 'riata/patterns';
import { CommandError } from '../command/command-error.js';
import type { GeneratedFile } from '../command/generated-files.js';
import type { Operator } from '../config/resolve-operator.js';
import { manifestFile } from '../manifests/manifest-files.js';
import { refuseSecrets } from '../manifests/refuse-secrets.js';
import type { ChartConfig } from './chart.js';
import { checkChart, isReleased } from './check-chart.js';
import { releasePlaceholders } from './evaluate-objects.js';
import { conditionsOf } from './placeholder.js';
import { placeholderValues } from './placeholder-values.js';
import { renderTemplate } from './render-template.js';
import { templateValue } from './template-expression.js';
import { readValuesSchema, type ValueNode } from './values-schema.js';
import { valuesYaml } from './values-yaml.js';

/** Upgrades change definitions, and uninstalling keeps them with all their objects. */
const keep = { 'helm.sh/resource-policy': 'keep' };

const crdValues = {
  type: 'object',
  properties: {
    install: {
      ...{ type: 'boolean', default: true },
      description: 'Installs and upgrades CustomResourceDefinitions. They stay when the release is uninstalled.',
    },
  },
};

/** The files of a Helm chart. Rejects with what is wrong with the chart's function. */
export async function chartFiles(chart: ChartConfig, operator: Operator): Promise<GeneratedFile[]> {
  const own = readValuesSchema(chart.schema);
  const context = { operator, release: releasePlaceholders };
  const objects = (await chart.objects(placeholderValues(own), context)).filter(isReleased);
  refuseSecrets(objects);
  const schema = withCrdValues(chart.schema, objects.some(isCrd) && own.properties.crds === undefined);
  const root = readValuesSchema(schema);
  // Before the check: a placeholder that was cut is reported as such.
  const rendered = templates(root, objects);
  await checkChart(chart, own, objects, { operator });
  return [
    { path: 'Chart.yaml', text: await chartYaml(chart, operator) },
    { path: 'values.yaml', text: await valuesYaml(root) },
    { path: 'values.schema.json', text: `${JSON.stringify(schema, null, 2)}\n` },
    { path: 'templates/NOTES.txt', text: notes(chart, operator) },
    ...rendered,
  ];
}

function templates(root: ValueNode, objects: readonly WriteObject[]): GeneratedFile[] {
  const files = new Map<string, string[]>();
  for (const object of objects) {
    const path = `templates/${manifestFile(object).replace(/^\d+-/, '')}`;
    files.set(path, [...(files.get(path) ?? []), template(root, object)]);
  }
  return [...files].map(([path, documents]) => ({ path, text: documents.join('---\n') }));
}

function template(root: ValueNode, object: WriteObject): string {
  const { annotations } = object.metadata as { readonly annotations?: object };
  const crd = { ...object, metadata: { ...object.metadata, annotations: { ...annotations, ...keep } } };
  const text = renderTemplate(root, isCrd(object) ? crd : object);
  const installs =
    isCrd(object) && root.properties.crds?.properties.install !== undefined ? ['.Values.crds.install'] : [];
  const tests = [
    ...conditionsOf(object).map((name) => templateValue(root, `\u{E000}${name}\u{E001}`)?.expression ?? name),
    ...installs,
  ];
  if (tests.length === 0) return text;
  return `{{- if ${tests.length === 1 ? tests[0] : `and ${tests.join(' ')}`} }}\n${text}{{- end }}\n`;
}

function isCrd({ kind }: WriteObject): boolean {
  return kind === 'CustomResourceDefinition';
}

function withCrdValues(schema: JsonObject, isNeeded: boolean): JsonObject {
  if (!isNeeded) return schema;
  const required = [...((schema.required as string[] | undefined) ?? []), 'crds'];
  return { ...schema, properties: { ...(schema.properties as object), crds: crdValues }, required } as JsonObject;
}

const semver = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;

async function chartYaml({ name }: ChartConfig, operator: Operator): Promise<string> {
  const { version, description } = operator;
  if (!semver.test(version)) {
    throw new CommandError(
      `version "${version}" is not a semantic version, which Helm requires; set version in the config`,
    );
  }
  const chart = {
    apiVersion: 'v2',
    name: name ?? operator.name,
    description,
    type: 'application',
    version,
    appVersion: version,
  };
  return objectsToYaml([chart]);
}

function notes({ notes: given }: ChartConfig, { name, kinds }: Operator): string {
  if (given !== undefined) return given;
  const installed = kinds.map((kind) => kind.crd().metadata.name);
  const definitions = installed.map((crd) => `  kubectl get ${crd} --all-namespaces`);
  return [
    `${name} {{ .Chart.AppVersion }} was installed in namespace {{ .Release.Namespace }}.`,
    '',
    'See that it runs:',
    `  kubectl --namespace {{ .Release.Namespace }} rollout status deployment/${name}`,
    `  kubectl --namespace {{ .Release.Namespace }} logs deployment/${name}`,
    ...(definitions.length === 0
      ? []
      : ['', 'Its objects, which stay when the release is uninstalled:', ...definitions]),
    '',
  ].join('\n');
}
