import type { JsonObject, StructuralSchema } from 'riata/object';
import { checkSchemaRules } from '../../cel/rules/check-schema-rules.js';
import { append } from '../../status/append.js';
import { type FieldError, forbidden, invalid, notSupported, required } from '../../status/field-error.js';
import type { Steps } from '../../steps.js';
import { dnsSubdomain, dnsSubdomainName } from '../name-rules.js';
import { checkImmutable, checkManyLabels, checkMetaUpdate, checkNewMeta } from '../object-meta.js';
import { knownFormat } from '../structural/formats.js';
import { checkApproval } from './check-approval.js';
import { checkCrdDefaults } from './check-crd-defaults.js';
import {
  checkColumn,
  checkConversion,
  checkDeprecation,
  checkNames,
  checkSelectableFields,
  checkSubresources,
  labelled,
} from './check-crd-parts.js';
import { checkCrdSchema } from './check-crd-schema.js';
import { checkStructural } from './check-structural.js';
import type { CrdObject, CrdSpec, CrdSubresources, CrdVersion, SchemaProps } from './crd-object.js';
import { internalForm, membersOf, printedSchema, printedVersions } from './internal-form.js';

/**
 * The problems of a new CustomResourceDefinition (`ValidateCustomResourceDefinition`). It was read by its schema and
 * has its defaults: `names.singular`, `names.listKind`, `conversion`, `status.storedVersions`. CEL rules are not
 * compiled.
 */
export function* validateCrd(crd: CrdObject): Steps<FieldError[]> {
  const { spec = {} } = crd;
  const meta = (crd.metadata ?? {}) as JsonObject;
  const expected = `${spec.names?.plural ?? ''}.${spec.group ?? ''}`;
  const nameRule = (name: string, prefix?: boolean) => [
    ...dnsSubdomainName(name, prefix),
    ...(name === expected ? [] : ['must be spec.names.plural+"."+spec.group']),
  ];
  return [
    ...checkNewMeta(meta, { namespaced: false, nameRule, labelErrors: yield* checkManyLabels(meta) }),
    ...(yield* checkSpec(spec)),
    ...checkStatus(crd),
    ...checkApproval(crd, undefined),
    ...checkPreserving(spec, undefined),
  ];
}

/** The problems of an update of a CustomResourceDefinition. */
export function* validateCrdUpdate(crd: CrdObject, before: CrdObject): Steps<FieldError[]> {
  const [spec, old] = [crd.spec ?? {}, before.spec ?? {}];
  const meta = (crd.metadata ?? {}) as JsonObject;
  const errors = [
    ...checkMetaUpdate(meta, (before.metadata ?? {}) as JsonObject, { labelErrors: yield* checkManyLabels(meta) }),
    ...(yield* checkSpec(spec, mayStayNonStructural(spec, old), old)),
  ];
  const established = before.status?.conditions?.some((c) => c.type === 'Established' && c.status === 'True');
  if (established) {
    append(errors, checkImmutable(spec.scope ?? '', old.scope ?? '', 'spec.scope'));
    append(errors, checkImmutable(spec.names?.kind ?? '', old.names?.kind ?? '', 'spec.names.kind'));
  }
  append(errors, checkImmutable(spec.group ?? '', old.group ?? '', 'spec.group'));
  append(errors, checkImmutable(spec.names?.plural ?? '', old.names?.plural ?? '', 'spec.names.plural'));
  errors.push(...checkStatus(crd), ...checkApproval(crd, before), ...checkPreserving(spec, old));
  return errors;
}

/** Warnings for the writer of a CustomResourceDefinition: formats that the server does not know. */
export function crdWarnings(crd: CrdObject, before?: CrdObject): string[] {
  const known = new Set(before === undefined ? [] : unknownFormats(before));
  return unknownFormats(crd)
    .filter((format) => !known.has(format))
    .map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

function* checkSpec(spec: CrdSpec, lenient = false, stored: CrdSpec = {}): Steps<FieldError[]> {
  const { group = '', scope = '', names = {} } = spec;
  const form = internalForm(spec);
  const how = { lenient, rules: new CheckedRules(stored) };
  const errors: FieldError[] = [];
  const problems = dnsSubdomain(group);
  if (group === '') errors.push(required('spec.group'));
  else if (problems.length > 0) errors.push(invalid('spec.group', group, problems.join(',')));
  else if (!group.includes('.')) errors.push(invalid('spec.group', group, 'should be a domain with at least one dot'));
  if (scope === '') errors.push(required('spec.scope'));
  else if (scope !== 'Cluster' && scope !== 'Namespaced') {
    errors.push(notSupported('spec.scope', scope, ['Cluster', 'Namespaced']));
  }
  if (form.validation?.openAPIV3Schema === undefined) {
    for (const [i, version] of form.versions.entries()) {
      if (version.schema?.openAPIV3Schema === undefined)
        errors.push(required(`spec.versions[${i}].schema.openAPIV3Schema`));
    }
  }
  const everything = [form.validation, ...form.versions.map((version) => version.schema)];
  if (spec.preserveUnknownFields && everything.some((one) => hasDefaults(one?.openAPIV3Schema))) {
    errors.push(invalid('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema'));
  }
  const perVersion = form.versions.some((version) => version.subresources !== undefined);
  for (const [i, version] of form.versions.entries()) {
    const at = `spec.versions[${i}]`;
    append(errors, labelled(`${at}.name`, version.name ?? ''));
    const status = hasStatus(perVersion ? version.subresources : form.subresources);
    append(errors, yield* checkVersion(version, status, at, how));
  }
  const versionNames = form.versions.map((version) => version.name);
  const printed = () => (spec.versions === undefined || spec.versions === null ? null : printedVersions(form.versions));
  if (new Set(versionNames).size < versionNames.length) {
    errors.push(invalid('spec.versions', printed(), 'must contain unique version names'));
  }
  if (form.versions.filter((version) => version.storage).length !== 1) {
    errors.push(invalid('spec.versions', printed(), 'must have exactly one version marked as storage version'));
  }
  const first = versionNames[0];
  if (first) append(errors, labelled('spec.version', first));
  for (const field of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (!names[field]) errors.push(required(`spec.names.${field}`));
  }
  append(errors, checkNames(names, 'spec.names'));
  const anyStatus = hasStatus(form.subresources) || form.versions.some((version) => hasStatus(version.subresources));
  const common = form.validation?.openAPIV3Schema;
  append(errors, yield* checkSchema(common, anyStatus, 'spec.validation.openAPIV3Schema', how));
  append(errors, checkSubresources(form.subresources, 'spec.subresources'));
  for (const [i, column] of form.additionalPrinterColumns.entries()) {
    append(errors, checkColumn(column, `spec.additionalPrinterColumns[${i}]`));
  }
  if (form.selectableFields.length > 0) {
    const schema = form.validation?.openAPIV3Schema;
    if (schema) append(errors, checkSelectableFields(form.selectableFields, schema, 'spec.selectableFields'));
    else errors.push(invalid('spec.selectableFields', '', 'may only be set when validations.schema is included'));
  }
  if (spec.preserveUnknownFields && spec.conversion && spec.conversion.strategy !== 'None') {
    const detail = 'must be None if spec.preserveUnknownFields is true';
    errors.push(invalid('spec.conversion.strategy', spec.conversion.strategy ?? '', detail));
  }
  append(errors, checkConversion(spec.conversion, 'spec.conversion'));
  return errors;
}

/** How the schemas of one definition are checked. */
interface SchemaChecks {
  /** Schemas that are not structural may stay. */
  readonly lenient: boolean;
  readonly rules: CheckedRules;
}

/**
 * Compiles the rules of each schema once. Those of a stored schema have been found valid, so a write that leaves them
 * alone, like that of a condition, doesn't compile them again, and neither does the next version with the same schema.
 */
class CheckedRules {
  readonly #stored: CrdSpec;
  #valid: Set<string> | undefined;

  constructor(stored: CrdSpec) {
    this.#stored = stored;
  }

  *check(schema: SchemaProps, path: string): Steps<FieldError[]> {
    // Writes of the server itself carry the very schema that is stored.
    if (schemasOf(this.#stored).includes(schema)) return [];
    this.#valid ??= new Set(schemasOf(this.#stored).map((known) => JSON.stringify(known)));
    const text = JSON.stringify(schema);
    if (this.#valid.has(text)) return [];
    const errors = yield* checkSchemaRules(schema, path);
    if (errors.length === 0) this.#valid.add(text);
    return errors;
  }
}

function schemasOf(spec: CrdSpec): SchemaProps[] {
  return (spec.versions ?? []).flatMap((version) => version.schema?.openAPIV3Schema ?? []);
}

/** The parts that belong to one version. */
function* checkVersion(version: CrdVersion, status: boolean, path: string, how: SchemaChecks): Steps<FieldError[]> {
  const schema = version.schema?.openAPIV3Schema;
  const errors = checkDeprecation(version, path);
  append(errors, yield* checkSchema(schema, status, `${path}.schema.openAPIV3Schema`, how));
  append(errors, checkSubresources(version.subresources, `${path}.subresources`));
  for (const [i, column] of (version.additionalPrinterColumns ?? []).entries()) {
    append(errors, checkColumn(column, `${path}.additionalPrinterColumns[${i}]`));
  }
  const fields = version.selectableFields ?? [];
  if (fields.length > 0) {
    const at = `${path}.selectableFields`;
    if (schema) append(errors, checkSelectableFields(fields, schema, at));
    else errors.push(invalid(at, '', 'may only be set when `version.schema.openAPIV3Schema` is not included'));
  }
  return errors;
}

const allowedAtRoot =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations';

function* checkSchema(
  schema: SchemaProps | undefined,
  status: boolean,
  path: string,
  { lenient, rules }: SchemaChecks,
): Steps<FieldError[]> {
  if (schema === undefined) return [];
  const errors: FieldError[] = [];
  if (status) {
    const odd = membersOf(schema).find((member) =>
      member === 'Type' ? schema.type !== 'object' : !allowedAtRoot.split(' ').includes(member),
    );
    if (odd === 'Type') {
      const detail =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
      errors.push(invalid(`${path}.type`, schema.type, detail));
    } else if (odd !== undefined) {
      const detail = `only [${allowedAtRoot}] fields are allowed at the root of the schema if the status subresource is enabled`;
      errors.push(invalid(path, printedSchema(schema), detail));
    }
  }
  if (schema.nullable) errors.push(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  const unreadable = notReadable(schema);
  if (unreadable === undefined && !lenient) {
    const structural = checkStructural(schema, path);
    errors.push(
      ...(structural.length > 0 ? structural : yield* checkCrdDefaults(schema as unknown as StructuralSchema, path)),
    );
  }
  const unfit = checkCrdSchema(schema, path);
  append(errors, unfit);
  // Rules are compiled only for a schema that says what they are about.
  if (errors.length === 0) append(errors, yield* rules.check(schema, path));
  if (errors.length === 0 && unreadable !== undefined && !lenient) errors.push(invalid(path, '', unreadable));
  return errors;
}

/** Why a schema cannot be read as a structural one at all; other checks mostly explain that better. */
export function notReadable(schema: SchemaProps): string | undefined {
  const not = (what: string) => `OpenAPIV3Schema '${what}' is not supported`;
  if (schema.id) return not('id');
  if (schema.$schema) return not('schema');
  if (schema.$ref) return not('$ref');
  if (Object.keys(schema.patternProperties ?? {}).length > 0) return not('patternProperties');
  if (Object.keys(schema.dependencies ?? {}).length > 0) return not('dependencies');
  if (schema.additionalItems !== undefined) return not('additionalItems');
  if (Object.keys(schema.definitions ?? {}).length > 0) return not('definitions');
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  if (Array.isArray(schema.items) && schema.items.length > 0)
    return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  return below(schema)
    .map(notReadable)
    .find((problem) => problem !== undefined);
}

function below(schema: SchemaProps): SchemaProps[] {
  const found = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
  ];
  if (schema.not) found.push(schema.not);
  if (schema.items && !Array.isArray(schema.items)) found.push(schema.items as SchemaProps);
  if (typeof schema.additionalProperties === 'object') found.push(schema.additionalProperties);
  return found;
}

/**
 * Definitions that were stored before schemas had to be structural may stay as they are, unless they use newer
 * features.
 */
function mayStayNonStructural(spec: CrdSpec, before: CrdSpec): boolean {
  if (!spec.preserveUnknownFields) return false;
  if (schemasOf(spec).some((schema) => hasDefaults(schema) || hasExtensions(schema))) return false;
  return schemasOf(before).some((s) => notReadable(s) !== undefined || checkStructural(s, '').length > 0);
}

function hasExtensions(schema: SchemaProps): boolean {
  return Object.keys(schema).some((member) => member.startsWith('x-kubernetes-')) || below(schema).some(hasExtensions);
}

function hasDefaults(schema: SchemaProps | undefined): boolean {
  return schema !== undefined && (schema.default !== undefined || below(schema).some(hasDefaults));
}

function unknownFormats({ spec }: CrdObject): string[] {
  const found = new Set<string>();
  const look = (schema: SchemaProps) => {
    const type = schema['x-kubernetes-int-or-string'] ? undefined : schema.type;
    if (schema.format && knownFormat(schema.format, type) === undefined) found.add(schema.format);
    for (const inner of below(schema)) look(inner);
  };
  for (const version of spec?.versions ?? []) if (version.schema?.openAPIV3Schema) look(version.schema.openAPIV3Schema);
  return [...found];
}

function hasStatus(subresources: CrdSubresources | undefined): boolean {
  return subresources?.status !== undefined;
}

/** All that is looked at when the status alone is written (`ValidateUpdateCustomResourceDefinitionStatus`). */
export function checkAcceptedNames({ status }: CrdObject): FieldError[] {
  return checkNames(status?.acceptedNames ?? {}, 'status.acceptedNames');
}

function checkStatus({ spec, status }: CrdObject): FieldError[] {
  const errors = checkAcceptedNames({ status });
  const stored = status?.storedVersions ?? [];
  const path = 'status.storedVersions';
  if (stored.length === 0) {
    return [...errors, invalid(path, status?.storedVersions ?? null, 'must have at least one stored version')];
  }
  const versions = spec?.versions ?? [];
  for (const version of versions) {
    if (version.storage && !stored.includes(version.name ?? '')) {
      errors.push(invalid(path, stored, `must have the storage version ${version.name}`));
    }
  }
  for (const [i, name] of stored.entries()) {
    if (versions.some((version) => version.name === name)) continue;
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.push(invalid(`${path}[${i}]`, name, detail));
  }
  return errors;
}

function checkPreserving(spec: CrdSpec, before: CrdSpec | undefined): FieldError[] {
  if (before?.preserveUnknownFields || !spec.preserveUnknownFields) return [];
  const detail =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return [invalid('spec.preserveUnknownFields', true, detail)];
}
