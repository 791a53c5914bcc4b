import type { GoStruct } from '../schema/built-in/go-type.js';

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';

const packages: Readonly<Record<string, string>> = {
  'meta/v1': meta,
  'apiextensions/v1': 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1',
  'apiregistration/v1': 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1',
};

/** Types with their own JSON, by how Go's messages spell them. */
const customs: Readonly<Record<string, string>> = {
  'resource.Quantity': 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  'intstr.IntOrString': 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  'runtime.RawExtension': 'io.k8s.apimachinery.pkg.runtime.RawExtension',
  'v1.Time': `${meta}.Time`,
  'v1.MicroTime': `${meta}.MicroTime`,
  'v1.FieldsV1': `${meta}.FieldsV1`,
};

/** How OpenAPI calls a struct: by Go's import path with the domain turned round. */
export function structName({ id }: Pick<GoStruct, 'id'>): string {
  const dot = id.lastIndexOf('.');
  const home = id.slice(0, dot);
  return `${packages[home] ?? `io.k8s.api.${home.replaceAll('/', '.')}`}.${id.slice(dot + 1)}`;
}

/** How OpenAPI calls a type that reads its own JSON. */
export function customTypeName(text: string): string {
  return customs[text] ?? `${packages['apiextensions/v1']}.${text.slice(text.indexOf('.') + 1)}`;
}

/** How OpenAPI calls what every API has, e.g. `ObjectMeta`. */
export function metaName(kind: string): string {
  return `${meta}.${kind}`;
}

/** How OpenAPI calls a custom kind: `com.example.v1.Widget`. */
export function customKindName(group: string, version: string, kind: string): string {
  return `${group.split('.').reverse().join('.')}.${version}.${kind}`;
}
