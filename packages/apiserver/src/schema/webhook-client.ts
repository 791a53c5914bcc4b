import { append } from '../status/append.js';
import { type FieldError, invalid, required } from '../status/field-error.js';
import { dns1035Label, dnsSubdomain } from './name-rules.js';

/** How a webhook is reached: by a URL or by a Service. */
export interface WebhookClient {
  readonly url?: string | null;
  readonly service?: {
    readonly namespace?: string;
    readonly name?: string;
    readonly path?: string;
    readonly port?: number;
  } | null;
}

const https = '; desired format: https://host[/path]';

/** The problems of a webhook's client config. */
export function checkWebhookClient({ url, service }: WebhookClient, path: string): FieldError[] {
  const [byUrl, byService] = [typeof url === 'string', typeof service === 'object' && service !== null];
  if (byUrl === byService) return [required(path, 'exactly one of url or service is required')];
  if (byUrl) return checkUrl(url as string, `${path}.url`);
  const errors: FieldError[] = [];
  // The real server also reports name and namespace the wrong way round.
  if (!service?.namespace) errors.push(required(`${path}.service.name`));
  if (!service?.name) errors.push(required(`${path}.service.namespace`));
  const port = service?.port ?? 443;
  if (port < 1 || port > 65535) {
    errors.push(invalid(`${path}.service.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'));
  }
  return [...errors, ...checkPath(service?.path, `${path}.service.path`)];
}

/** The problems of the review versions of a webhook; `absent` is reported when there are none. */
export function checkReviewVersions(versions: readonly string[], path: string, absent = ''): FieldError[] {
  if (versions.length === 0) return [required(path, absent)];
  const errors: FieldError[] = [];
  for (const [i, version] of versions.entries()) {
    if (versions.indexOf(version) < i) errors.push(invalid(`${path}[${i}]`, version, 'duplicate version'));
    else
      append(
        errors,
        dns1035Label(version).map((problem) => invalid(`${path}[${i}]`, version, problem)),
      );
  }
  if (!versions.includes('v1') && !versions.includes('v1beta1')) {
    errors.push(invalid(path, versions, 'must include at least one of v1, v1beta1'));
  }
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
