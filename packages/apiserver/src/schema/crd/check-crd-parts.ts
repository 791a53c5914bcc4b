import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooMany,
} from '../../status/field-error.js';
import { byteLength, dns1035Label, dnsSubdomain } from '../name-rules.js';
import type { CrdColumn, CrdConversion, CrdNames, CrdSubresources, CrdVersion, SchemaProps } from './crd-object.js';
import { fieldAtPath } from './field-path.js';

/** What is wrong with the names of a custom resource, wanted or accepted. */
export function checkNames(names: CrdNames, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['plural', 'singular'] as const) {
    const name = names[field] ?? '';
    if (name !== '') errors.push(...labelled(`${path}.${field}`, name));
  }
  for (const field of ['kind', 'listKind'] as const) {
    const name = names[field] ?? '';
    const problems = name === '' ? [] : dns1035Label(name.toLowerCase());
    const detail = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
    if (problems.length > 0) errors.push(invalid(`${path}.${field}`, name, detail));
  }
  for (const [i, name] of (names.shortNames ?? []).entries())
    errors.push(...labelled(`${path}.shortNames[${i}]`, name));
  if (names.kind && names.kind === names.listKind) {
    errors.push(invalid(`${path}.listKind`, names.listKind, 'kind and listKind may not be the same'));
  }
  for (const [i, name] of (names.categories ?? []).entries())
    errors.push(...labelled(`${path}.categories[${i}]`, name));
  return errors;
}

/** The name as a DNS label, all problems in one complaint. */
export function labelled(path: string, name: string): FieldError[] {
  const problems = dns1035Label(name);
  return problems.length === 0 ? [] : [invalid(path, name, problems.join(','))];
}

const columnTypes = 'boolean,date,integer,number,string';
const columnFormats = 'byte,date,date-time,double,float,int32,int64,password';

/** What is wrong with a printer column. */
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
  else errors.push(...simplePath(jsonPath, `${path}.JSONPath`));
  return errors;
}

function simplePath(jsonPath: string, path: string): FieldError[] {
  return jsonPath.startsWith('.') ? [] : [invalid(path, jsonPath, 'must be a simple json path starting with .')];
}

/** What is wrong with the paths of the scale subresource. */
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

/** What is wrong with the fields that selectors may name. */
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

/** What is wrong with the warning of a deprecated version. */
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

const https = '; desired format: https://host[/path]';

/** What is wrong with how versions are converted. */
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
  else if ((client.url === undefined) === (client.service === undefined)) {
    errors.push(required(at, 'exactly one of url or service is required'));
  } else if (client.url !== undefined) errors.push(...checkUrl(client.url, `${at}.url`));
  else {
    // Name and namespace are told the wrong way round by the real server too.
    if (!client.service?.namespace) errors.push(required(`${at}.service.name`));
    if (!client.service?.name) errors.push(required(`${at}.service.namespace`));
    const port = client.service?.port ?? 443;
    if (port < 1 || port > 65535) {
      errors.push(invalid(`${at}.service.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'));
    }
    errors.push(...checkPath(client.service?.path, `${at}.service.path`));
  }
  errors.push(...checkReviewVersions(versions, `${path}.conversionReviewVersions`));
  return errors;
}

function checkUrl(text: string, path: string): FieldError[] {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return [
      invalid(path, '', `'https' is the only allowed URL scheme${https}`),
      invalid(path, '', `host must be specified${https}`),
    ];
  }
  const errors: FieldError[] = [];
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== 'https') errors.push(invalid(path, scheme, `'https' is the only allowed URL scheme${https}`));
  if (url.host === '') errors.push(invalid(path, '', `host must be specified${https}`));
  if (url.username !== '' || url.password !== '') {
    errors.push(invalid(path, url.username, 'user information is not permitted in the URL'));
  }
  if (url.hash.length > 1) errors.push(invalid(path, url.hash.slice(1), 'fragments are not permitted in the URL'));
  if (url.search.length > 1) {
    errors.push(invalid(path, url.search.slice(1), 'query parameters are not permitted in the URL'));
  }
  return errors;
}

function checkPath(text: string | undefined, path: string): FieldError[] {
  if (text === undefined || text === '' || text === '/') return [];
  if (text === '//') return [invalid(path, text, 'segment[0] may not be empty')];
  const errors = text.startsWith('/') ? [] : [invalid(path, text, "must start with a '/'")];
  const steps = text.slice(1).replace(/\/$/, '').split('/');
  for (const [i, step] of steps.entries()) {
    if (step === '') errors.push(invalid(path, text, `segment[${i}] may not be empty`));
    else for (const problem of dnsSubdomain(step)) errors.push(invalid(path, text, `segment[${i}]: ${problem}`));
  }
  return errors;
}

function checkReviewVersions(versions: readonly string[], path: string): FieldError[] {
  if (versions.length === 0) return [required(path)];
  const errors: FieldError[] = [];
  for (const [i, version] of versions.entries()) {
    if (versions.indexOf(version) < i) errors.push(invalid(`${path}[${i}]`, version, 'duplicate version'));
    else errors.push(...dns1035Label(version).map((problem) => invalid(`${path}[${i}]`, version, problem)));
  }
  if (!versions.includes('v1') && !versions.includes('v1beta1')) {
    errors.push(invalid(path, versions, 'must include at least one of v1, v1beta1'));
  }
  return errors;
}
