import type { Status, StatusCause, StatusDetails } from 'riata/object';
import { causeOf, type FieldError, formatFieldError } from './field-error.js';
import { goQuote } from './go-quote.js';

/** The names of a resource that messages speak of. */
export interface ResourceName {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

/** Thrown by whatever serves a request: the server answers with this Status. */
export class Refusal extends Error {
  readonly status: Status;
  /** Headers that go with it, e.g. `retry-after`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: number, reason: string, message: string, details?: StatusDetails, extra: RefusalExtra = {}) {
    super(message);
    this.name = 'Refusal';
    this.headers = extra.headers ?? {};
    this.status = statusOf('Failure', code, reason, message, details, extra.continue);
  }
}

interface RefusalExtra {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A token to go on with, in the metadata of the Status. */
  readonly continue?: string;
}

/** A Status with its members in upstream's order. */
export function statusOf(
  status: 'Success' | 'Failure',
  code: number | undefined,
  reason?: string,
  message?: string,
  details?: StatusDetails,
  token?: string,
): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: token === undefined ? {} : { continue: token },
    status,
    ...(message === undefined ? {} : { message }),
    ...(reason === undefined || reason === '' ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    ...(code === undefined ? {} : { code }),
  };
}

/** `pods`, or `deployments.apps`. */
function qualified({ plural, group }: ResourceName): string {
  return group === '' ? plural : `${plural}.${group}`;
}

function detailsOf({ group, plural }: ResourceName, name: string, more: Partial<StatusDetails> = {}): StatusDetails {
  return {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    ...(plural === '' ? {} : { kind: plural }),
    ...more,
  };
}

export function notFound(resource: ResourceName, name: string): Refusal {
  return new Refusal(404, 'NotFound', `${qualified(resource)} ${goQuote(name)} not found`, detailsOf(resource, name));
}

/** There is nothing under this path. */
export function noSuchPath(): Refusal {
  return new Refusal(404, 'NotFound', 'the server could not find the requested resource', {});
}

/** The answer of go-restful for a known path and an unknown method. */
export function notAllowed(): Refusal {
  const message = 'the server does not allow this method on the requested resource';
  return new Refusal(405, 'MethodNotAllowed', message, {});
}

export function alreadyExists(resource: ResourceName, name: string, isDeleted = false): Refusal {
  const message = `${isDeleted ? 'object is being deleted: ' : ''}${qualified(resource)} "${name}" already exists`;
  return new Refusal(409, 'AlreadyExists', message, detailsOf(resource, name));
}

export function conflict(resource: ResourceName, name: string, why: string): Refusal {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`;
  return new Refusal(409, 'Conflict', message, detailsOf(resource, name));
}

/** The object changed since it was read. */
export function modified(resource: ResourceName, name: string): Refusal {
  return conflict(
    resource,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );
}

/**
 * A Status names no more causes than take up this many characters. kube-apiserver lists all of them, and times out
 * at some hundred thousand.
 */
const maxCauseLength = 512 * 1024;

/** The object is not what Kubernetes takes for a valid one. */
export function invalidObject(resource: ResourceName, name: string, errors: readonly FieldError[]): Refusal {
  const kind = resource.group === '' ? resource.kind : `${resource.kind}.${resource.group}`;
  const reported = firstOf(errors);
  const texts = [...new Set(reported.map(formatFieldError))];
  if (reported.length < errors.length) texts.push(`and ${errors.length - reported.length} more`);
  const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  const causes: StatusCause[] = reported.map(causeOf);
  const details = { ...detailsOf({ ...resource, plural: resource.kind }, name), causes };
  return new Refusal(422, 'Invalid', `${kind} "${name}" is invalid: ${text}`, details);
}

function firstOf(errors: readonly FieldError[]): readonly FieldError[] {
  let length = 0;
  const end = errors.findIndex(({ field, body }) => {
    length += field.length + body.length;
    return length > maxCauseLength;
  });
  return end < 0 ? errors : errors.slice(0, Math.max(1, end));
}

export function badRequest(message: string): Refusal {
  return new Refusal(400, 'BadRequest', message);
}

export function forbiddenWrite(
  resource: ResourceName,
  name: string,
  why: string,
  causes?: StatusCause[],
  headers?: Readonly<Record<string, string>>,
): Refusal {
  const named = name === '' ? qualified(resource) : `${qualified(resource)} ${goQuote(name)}`;
  const details = detailsOf(resource, name, causes === undefined ? {} : { causes });
  return new Refusal(403, 'Forbidden', `${named} is forbidden: ${why}`, details, { headers });
}

/** Nothing is created in a namespace that is being deleted. */
export function namespaceTerminating(resource: ResourceName, namespace: string, name: string): Refusal {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const message = `namespace ${namespace} is being terminated`;
  const causes = [{ reason: 'NamespaceTerminating', message, field: 'metadata.namespace' }];
  return forbiddenWrite(resource, name, why, causes);
}

export function methodNotSupported(resource: ResourceName, action: string): Refusal {
  const message = `${action} is not supported on resources of kind "${qualified(resource)}"`;
  return new Refusal(405, 'MethodNotAllowed', message, detailsOf(resource, ''));
}

export function unauthorized(): Refusal {
  return new Refusal(401, 'Unauthorized', 'Unauthorized');
}

/** History that a continue token or a watch needs is gone. */
export function expired(message: string, token?: string): Refusal {
  return new Refusal(410, 'Expired', message, undefined, token === undefined ? {} : { continue: token });
}

/** A read at a revision that the server has not come to yet. */
export function tooLargeResourceVersion(asked: string, current: number): Refusal {
  const message = `Too large resource version: ${asked}, current: ${current}`;
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  return new Refusal(504, 'Timeout', `Timeout: ${message}`, { causes, retryAfterSeconds: 1 });
}

export function unsupportedMediaType(supported: readonly string[]): Refusal {
  const message = `the body of the request was in an unknown format - accepted media types include: ${supported.join(', ')}`;
  return new Refusal(415, 'UnsupportedMediaType', message);
}

export function notAcceptable(supported: readonly string[]): Refusal {
  const message = `only the following media types are accepted: ${supported.join(', ')}`;
  return new Refusal(406, 'NotAcceptable', message);
}

export function tooLarge(limit: number): Refusal {
  return new Refusal(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`);
}

export function internal(message: string): Refusal {
  return new Refusal(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
}

/** The caller may come back later. */
export function tooManyRequests(message: string, retryAfterSeconds: number, causes: readonly StatusCause[]): Refusal {
  const wait = retryAfterSeconds === 0 ? {} : { retryAfterSeconds };
  const headers: Record<string, string> = retryAfterSeconds === 0 ? {} : { 'retry-after': String(retryAfterSeconds) };
  return new Refusal(429, 'TooManyRequests', message, { causes: [...causes], ...wait }, { headers });
}
