import { encodeJson } from '../../object/encode-json.js';
import { joinPath } from '../../rest/request/request-path.js';
import type { RequestSender } from '../../rest/request/request-sender.js';
import { defaultAccept, type RequestSpec } from '../../rest/request/request-spec.js';
import type { Operation, Verb } from './operation.js';
import { preconditionedBody } from './preconditioned-body.js';

const methods = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  connect: 'GET',
  stream: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
} as const satisfies Record<Verb, string>;

/** The request that carries out an operation. */
export function operationRequest(operation: Operation, { basePath, settings }: RequestSender): RequestSpec {
  const { verb, kind, namespace = '', name, subresource, maxRetries } = operation;
  const { signal, span, headersTimeoutMs, idleTimeoutMs, beforeSend, rawBody } = operation;
  const value = preconditionedBody(operation);
  return {
    method: operation.method ?? methods[verb],
    prefix: joinPath(kind.group === '' ? `${basePath}/api` : `${basePath}/apis/${kind.group}`, kind.version),
    namespace: kind.scope === 'Namespaced' ? namespace : undefined,
    resource: kind.plural,
    name,
    subresource,
    suffix: operation.suffix,
    proxied: operation.proxied,
    anyStatus: operation.proxied !== undefined,
    params: paramsOf(operation),
    headers: headersOf(operation, value !== undefined),
    body: isBytes(rawBody) ? rawBody : value === undefined ? undefined : encodeJson(value),
    bodyStream: isBytes(rawBody) ? undefined : rawBody,
    settings: maxRetries === undefined ? settings : { ...settings, maxRetries },
    signal,
    span,
    headersTimeoutMs,
    idleTimeoutMs,
    beforeSend,
  };
}

function isBytes(body: Operation['rawBody']): body is Uint8Array | string {
  return typeof body === 'string' || body instanceof Uint8Array;
}

function paramsOf({ verb, params, repeatedParams = [] }: Operation): RequestSpec['params'] {
  return [...Object.entries(verb === 'watch' ? { ...params, watch: 'true' } : params), ...repeatedParams];
}

function headersOf(operation: Operation, hasBody: boolean): RequestSpec['headers'] {
  const accept = acceptOf(operation);
  const headers: Record<string, string | readonly string[]> = hasBody
    ? { accept, 'content-type': operation.contentType ?? 'application/json' }
    : { accept };
  for (const name in operation.headers) headers[name.toLowerCase()] = operation.headers[name] as string;
  return headers;
}

function acceptOf({ verb, kind, subresource }: Operation): string {
  if (kind.projection !== 'metadata' || subresource !== undefined) return defaultAccept;
  const many = verb === 'list' || verb === 'deletecollection';
  const form = many ? 'PartialObjectMetadataList' : 'PartialObjectMetadata';
  // A server that cannot do it sends whole objects, and the client drops the rest.
  return `application/json;as=${form};g=meta.k8s.io;v=v1,application/json`;
}
