import { append } from '../../status/append.js';
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooMany,
} from '../../status/field-error.js';
import { byteLength, dns1035Label } from '../name-rules.js';
import { checkReviewVersions, checkWebhookClient } from '../webhook-client.js';
import type { CrdColumn, CrdConversion, CrdNames, CrdSubresources, CrdVersion, SchemaProps } from './crd-object.js';
import { fieldAtPath } from './field-at-path.js';

/** The problems of the names of a custom resource, requested or accepted. */
export function checkNames(names: CrdNames, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['plural', 'singular'] as const) {
    const name = names[field] ?? '';
    if (name !== '') append(errors, labelled(`${path}.${field}`, name));
  }
  for (const field of ['kind', 'listKind'] as const) {
    const name = names[field] ?? '';
    const problems = name === '' ? [] : dns1035Label(name.toLowerCase());
    const detail = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
    if (problems.length > 0) errors.push(invalid(`${path}.${field}`, name, detail));
  }
  for (const [i, name] of (names.shortNames ?? []).entries())
    append(errors, labelled(`${path}.shortNames[${i}]`, name));
  if (names.kind && names.kind === names.listKind) {
    errors.push(invalid(`${path}.listKind`, names.listKind, 'kind and listKind may not be the same'));
  }
  for (const [i, name] of (names.categories ?? []).entries())
    append(errors, labelled(`${path}.categories[${i}]`, name));
  return errors;
}

/** The name as a DNS label, all problems in one complaint. */
export function labelled(path: string, name: string): FieldError[] {
  const problems = dns1035Label(name);
  return problems.length === 0 ? [] : [invalid(path, name, problems.join(','))];
}

const columnTypes = 'boolean,date,integer,number,string';
const columnFormats = 'byte,date,date-time,double,float,int32,int64,password';

/** The problems of a printer column. */
export function checkColumn(column: CrdColumn, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { name = '', type = '', format = '', jsonPath = '' } = column;
  if (name === '') errors.push(required(`${path}.name`));
  if (type === '') errors.push(required(`${path}.type`, `must be one of ${columnTypes}`));
  else if (!columnTypes.split(',').includes(type)) {
    errors.push(invalid(`${path}.type`, type, `must be one of ${columnTypes}`));
  }
  if (format !== '' && !columnFormats.split(',').includes(format)) {
    errors.push(invalid(`${path}.format`, format, `must be one of ${columnFormats}`));
  }
  if (jsonPath === '') errors.push(required(`${path}.JSONPath`));
  else append(errors, simplePath(jsonPath, `${path}.JSONPath`));
  return errors;
}

function simplePath(jsonPath: string, path: string): FieldError[] {
  return jsonPath.startsWith('.') ? [] : [invalid(path, jsonPath, 'must be a simple json path starting with .')];
}

/** The problems of the paths of the scale subresource. */
export function checkSubresources(subresources: CrdSubresources | undefined, path: string): FieldError[] {
  const scale = subresources?.scale;
  if (scale === undefined) return [];
  const check = (field: string, jsonPath: string, roots: readonly string[], words: string): FieldError[] => {
    const at = `${path}.scale.${field}`;
    const wrong = simplePath(jsonPath, at);
    if (wrong.length > 0) return wrong;
    return roots.some((root) => jsonPath.startsWith(root))
      ? []
      : [invalid(at, jsonPath, `should be a json path under ${words}`)];
  };
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = scale;
  return [
    ...(specReplicasPath === ''
      ? [required(`${path}.scale.specReplicasPath`)]
      : check('specReplicasPath', specReplicasPath, ['.spec.'], '.spec')),
    ...(statusReplicasPath === ''
      ? [required(`${path}.scale.statusReplicasPath`)]
      : check('statusReplicasPath', statusReplicasPath, ['.status.'], '.status')),
    ...(labelSelectorPath === ''
      ? []
      : check('labelSelectorPath', labelSelectorPath, ['.spec.', '.status.'], 'either .spec or .status')),
  ];
}

const maxSelectableFields = 8;

/** The problems of the selectable fields. */
export function checkSelectableFields(
  fields: NonNullable<CrdVersion['selectableFields']>,
  schema: SchemaProps,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, { jsonPath = '' }] of fields.entries()) {
    const at = `${path}[${i}].jsonPath`;
    if (jsonPath === '') {
      errors.push(required(at));
      continue;
    }
    const found = fieldAtPath(jsonPath, schema, { brackets: false });
    if ('problem' in found) {
      errors.push(invalid(at, jsonPath, `is an invalid path: ${found.problem}`));
      continue;
    }
    if (found.names[0] === 'metadata') errors.push(invalid(at, jsonPath, 'must not point to fields in metadata'));
    if (!['string', 'boolean', 'integer'].includes(found.schema?.type ?? '')) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      errors.push(invalid(at, jsonPath, detail));
    }
    const name = found.names.join('.');
    if (seen.has(name)) errors.push(duplicate(at, jsonPath));
    seen.add(name);
  }
  if (seen.size > maxSelectableFields) errors.push(tooMany(path, seen.size, maxSelectableFields));
  return errors;
}

/** The problems of the warning of a deprecated version. */
export function checkDeprecation({ deprecated, deprecationWarning: warning }: CrdVersion, path: string): FieldError[] {
  if (warning === undefined) return [];
  const at = `${path}.deprecationWarning`;
  if (!deprecated) return [invalid(at, warning, 'can only be set for deprecated versions')];
  const errors: FieldError[] = [];
  if (byteLength(warning) > 256) errors.push(invalid(at, warning, 'must be <= 256 characters long'));
  if (warning === '') errors.push(invalid(at, warning, 'must not be an empty string'));
  const odd = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning);
  if (odd !== null) {
    const index = byteLength(warning.slice(0, odd.index));
    const detail = `must only contain printable UTF-8 characters; non-printable character found at index ${index}`;
    errors.push(invalid(at, warning, detail));
  }
  return errors;
}

/** The problems of the conversion of versions. */
export function checkConversion(conversion: CrdConversion | undefined, path: string): FieldError[] {
  if (conversion === undefined) return [];
  const { strategy = '', webhook } = conversion;
  const errors: FieldError[] = [];
  if (strategy === '') errors.push(required(`${path}.strategy`));
  else if (strategy !== 'None' && strategy !== 'Webhook') {
    errors.push(notSupported(`${path}.strategy`, strategy, ['None', 'Webhook']));
  }
  const client = webhook?.clientConfig;
  const versions = webhook?.conversionReviewVersions ?? [];
  const at = `${path}.webhookClientConfig`;
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook';
    if (client !== undefined) errors.push(forbidden(at, detail));
    if (versions.length > 0) errors.push(forbidden(`${path}.conversionReviewVersions`, detail));
    return errors;
  }
  if (client === undefined) errors.push(required(at, 'required when strategy is set to Webhook'));
  else append(errors, checkWebhookClient(client, at));
  append(errors, checkReviewVersions(versions, `${path}.conversionReviewVersions`));
  return errors;
}
