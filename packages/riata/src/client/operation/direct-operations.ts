import { encodeJson } from '../../object/encode-json.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { freeze } from '../../object/value/freeze.js';
import { headerValue } from '../../rest/request/header-values.js';
import { jsonOf } from '../../rest/request/rest-result.js';
import { directRequests, type RestClient } from '../../rest/rest-client.js';
import type { Operation, Verb } from './operation.js';
import { preconditionedBody } from './preconditioned-body.js';

/** The HTTP method of each verb. */
export const methods = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  connect: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
} as const satisfies Record<Verb, string>;

/** What stands in a path or query as it is, and is no path of its own. */
const plain = /^[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$/;
const accept = 'application/json, */*';
const readHeaders = Object.freeze({ accept });

type Headers = Readonly<Record<string, string>>;

/**
 * Sends operations about one object whose path and query are plain text, as nearly all are: the same request that a
 * `RestRequest` would become, without its steps.
 */
export class DirectOperations {
  readonly #rest: RestClient;
  /** Path of a kind up to its group and version, with a slash; undefined if it is not plain. */
  readonly #prefixes = new WeakMap<KindRef, string | undefined>();
  readonly #headers = new Map<string, Headers>();

  constructor(rest: RestClient) {
    this.#rest = rest;
  }

  /** Undefined for what has to be built step by step. What `make` makes of the answer. */
  send(
    operation: Operation,
    make: (operation: Operation, answer: unknown) => KubeObject,
  ): Promise<KubeObject> | undefined {
    const requests = this.#rest[directRequests];
    const { verb, kind, name, headers, maxRetries, cutManagedFields, freezeAnswer } = operation;
    if (verb === 'list' || verb === 'watch' || verb === 'connect' || verb === 'deletecollection') return undefined;
    if (headers !== undefined || maxRetries !== undefined || kind.projection !== undefined) return undefined;
    if (!requests.isOpen) return undefined;
    const path = this.#pathOf(operation);
    const query = queryOf(operation.params);
    if (path === undefined || query === undefined) return undefined;
    const value = preconditionedBody(operation);
    const body = value === undefined ? undefined : encodeJson(value);
    const method = methods[verb];
    const target = query === '' ? path : `${path}?${query}`;
    const { signal, headersTimeoutMs, idleTimeoutMs, beforeSend } = operation;
    return requests.send(
      {
        ...{ method, path: target, body, signal, headersTimeoutMs, idleTimeoutMs, beforeSend },
        headers: body === undefined ? readHeaders : this.#headersFor(operation.contentType ?? 'application/json'),
        span: operation.span,
        details: name === undefined ? { group: '', kind: kind.plural } : { group: '', kind: kind.plural, name },
      },
      (answer) => {
        const { status: statusCode, body: bytes } = answer;
        const contentType = headerValue(answer.headers, 'content-type');
        const parts = {
          method,
          url: requests.urlOf(target),
          statusCode,
          contentType,
          body: bytes,
          redact: requests.redact,
        };
        const made = make(operation, jsonOf(parts, cutManagedFields ? cutting : undefined));
        return freezeAnswer ? freeze(made) : made;
      },
    );
  }

  #pathOf({ kind, namespace, name, subresource, verb }: Operation): string | undefined {
    let path = this.#prefixes.get(kind);
    if (path === undefined) {
      path = prefixOf(kind);
      if (path === undefined) return undefined;
      this.#prefixes.set(kind, path);
    }
    if (kind.scope === 'Namespaced') {
      if (namespace === undefined || !plain.test(namespace)) return undefined;
      path += `namespaces/${namespace}/`;
    }
    path += kind.plural;
    if (name === undefined) return verb === 'create' ? path : undefined;
    if (!plain.test(name)) return undefined;
    path += `/${name}`;
    if (subresource === undefined) return path;
    return plain.test(subresource) ? `${path}/${subresource}` : undefined;
  }

  #headersFor(contentType: string): Headers {
    let headers = this.#headers.get(contentType);
    if (headers === undefined) {
      headers = Object.freeze({ accept, 'content-type': contentType });
      if (this.#headers.size < maxKept) this.#headers.set(contentType, headers);
    }
    return headers;
  }
}

const maxKept = 16;
const cutting = Object.freeze({ cutManagedFields: true });

function prefixOf({ group, version, plural }: KindRef): string | undefined {
  const isPlain = (group === '' || plain.test(group)) && plain.test(version) && plain.test(plural);
  if (!isPlain || plural !== plural.toLowerCase()) return undefined;
  return group === '' ? `/api/${version}/` : `/apis/${group}/${version}/`;
}

/** The query if it needs no escapes, sorted by name; undefined if it does. */
function queryOf(params: Operation['params']): string | undefined {
  let query = '';
  let before = '';
  for (const name of Object.keys(params)) {
    const value = params[name] as string;
    if (name < before || !plain.test(value) || !plain.test(name)) return undefined;
    query += `${query && '&'}${name}=${value}`;
    before = name;
  }
  return query;
}
