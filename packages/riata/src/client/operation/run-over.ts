import { encodeJson } from '../../object/encode-json.js';
import { isJsonObject } from '../../object/json.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { carryLoss } from '../../object/value/lossy.js';
import { describeValue } from '../../object/with-metadata.js';
import type { ExchangeOptions, RestRequest } from '../../rest/request/rest-request.js';
import { patchTypes, type RestClient } from '../../rest/rest-client.js';
import { listStream } from '../../rest/stream/list-stream.js';
import { watchStream } from '../../rest/stream/watch-stream.js';
import type { TransportSink } from '../../rest/transport/transport.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { metadataPart } from '../metadata-part.js';
import { tableAccept } from '../table.js';
import { DirectOperations, methods } from './direct-operations.js';
import type { Answers, Operation, Run, Verb } from './operation.js';
import { preconditionedBody } from './preconditioned-body.js';

/** The innermost way to carry operations out: as requests to the server. */
export function runOver(rest: RestClient, clock: Scheduler): Run {
  const { maxObjectBytes } = rest;
  const ways: { readonly [V in Verb]: (operation: Operation<V>) => Promise<Answers[V]> } = {
    get: oneObject,
    create: oneObject,
    update: oneObject,
    patch: oneObject,
    delete: oneObject,
    deletecollection: async (operation) => (await answerTo(operation)) as Answers['deletecollection'],
    connect: async (operation) => request(operation).stream(sendOptions(operation)),
    list: async (operation) => {
      const { cutManagedFields, decoder, signal, kind } = operation;
      const transform = projectionOf(kind);
      const exchanger = exchangerOf(request(operation), operation);
      const options = { cutManagedFields, decoder, signal, clock, itemType: kind, transform, maxObjectBytes };
      return listStream<KubeObject>(exchanger, options).open();
    },
    watch: async (operation) => {
      const { cutManagedFields, decoder, signal, kind } = operation;
      const exchanger = exchangerOf(request(operation).param('watch', 'true'), operation);
      const transform = projectionOf(kind);
      const options = { cutManagedFields, decoder, signal, clock, transform, maxObjectBytes };
      return watchStream<KubeObject>(exchanger, options).open();
    },
  };

  const direct = new DirectOperations(rest);

  async function answerTo(operation: Operation): Promise<unknown> {
    return (await request(operation).do(sendOptions(operation))).json();
  }

  async function oneObject(operation: Operation): Promise<KubeObject> {
    return objectOf(operation, await answerTo(operation));
  }

  function request(operation: Operation): RestRequest {
    const { verb, kind, name, subresource, params, headers, contentType } = operation;
    const body = preconditionedBody(operation);
    const method = rest.verb(methods[verb]).absPath(kind.group === '' ? '/api' : `/apis/${kind.group}`, kind.version);
    method.namespaceIfScoped(operation.namespace ?? '', kind.scope === 'Namespaced').resource(kind.plural);
    if (name !== undefined) method.name(name);
    if (subresource !== undefined) method.subResource(...subresource.split('/'));
    for (const [key, value] of Object.entries(params)) method.param(key, value);
    const accept = acceptFor(operation);
    if (accept !== undefined) method.setHeader('accept', accept);
    for (const [key, value] of Object.entries(headers ?? {})) method.setHeader(key, ...[value].flat());
    if (body !== undefined) method.setHeader('content-type', contentType ?? 'application/json').body(encodeJson(body));
    if (operation.maxRetries !== undefined) method.maxRetries(operation.maxRetries);
    return method;
  }

  return <V extends Verb>(operation: Operation<V>): Promise<Answers[V]> => {
    try {
      checkAddress(operation);
      const sent = direct.send(operation, objectOf) as Promise<Answers[V]> | undefined;
      return sent ?? ways[operation.verb](operation);
    } catch (error) {
      return Promise.reject(error);
    }
  };
}

const namedVerbs: ReadonlySet<Verb> = new Set(['get', 'update', 'patch', 'delete']);

/** Refuses what would otherwise become a request for something else: no name is a list, no namespace is all of them. */
function checkAddress(operation: Operation): void {
  const { verb, kind, name, namespace = '', subresource } = operation;
  const isTable = verb === 'get' && operation.headers?.accept === tableAccept;
  const wantsName = namedVerbs.has(verb) || subresource !== undefined;
  if (name === '' || (wantsName && !isTable && name === undefined)) {
    throw new TypeError(`${describeCall(operation)}: the name is missing`);
  }
  if (subresource === '') {
    throw new TypeError(`${describeCall(operation)}: the subresource is missing; name one, such as "status"`);
  }
  if (kind.scope === 'Cluster' && namespace !== '') {
    throw new TypeError(
      `${describeCall(operation)}: the kind lives beside the namespaces, but namespace "${namespace}" is given`,
    );
  }
  const spansNamespaces = verb === 'list' || verb === 'watch' || isTable;
  if (kind.scope === 'Namespaced' && namespace === '' && !spansNamespaces) {
    throw new TypeError(
      `${describeCall(operation)}: the namespace is missing; give one, or use inNamespace(client, …)`,
    );
  }
  if (operation.contentType === patchTypes.apply && !operation.params.fieldManager) {
    throw new TypeError(`apply ${kind.kind}: say who applies, by the option fieldManager or withFieldOwner(client, …)`);
  }
}

function describeCall({ verb, kind, name }: Operation): string {
  return `${verb} ${kind.kind}${name ? ` ${JSON.stringify(name)}` : ''}`;
}

/** An answer about one object: with its names where the server left them out, and no more of it than was asked for. */
function objectOf(operation: Operation, answer: unknown): KubeObject {
  const { kind, subresource } = operation;
  if (subresource !== undefined) return answer as KubeObject;
  if (!isJsonObject(answer)) {
    throw new TypeError(`${describeCall(operation)}: expected a ${kind.kind}, got ${describeValue(answer)}`);
  }
  if (answer.kind === 'Status' || answer.kind === 'Table') return answer as unknown as KubeObject;
  if (kind.projection === 'metadata') return metadataPart(answer as unknown as KubeObject, kind);
  if (answer.apiVersion !== undefined && answer.kind !== undefined) return answer as unknown as KubeObject;
  const named = { apiVersion: kind.apiVersion, kind: kind.kind, ...answer };
  carryLoss(answer, named);
  return named as unknown as KubeObject;
}

function acceptFor({ verb, kind, subresource }: Operation): string | undefined {
  if (kind.projection !== 'metadata' || subresource !== undefined) return undefined;
  const many = verb === 'list' || verb === 'deletecollection';
  const form = many ? 'PartialObjectMetadataList' : 'PartialObjectMetadata';
  // A server that cannot do it sends the whole object, and the rest is dropped here.
  return `application/json;as=${form};g=meta.k8s.io;v=v1,application/json`;
}

function projectionOf(kind: KindRef): ((object: KubeObject) => KubeObject) | undefined {
  return kind.projection === 'metadata' ? (object) => metadataPart(object, kind) : undefined;
}

function sendOptions({ signal, headersTimeoutMs, idleTimeoutMs, beforeSend, span }: Operation) {
  return { signal, headersTimeoutMs, idleTimeoutMs, beforeSend, span };
}

function exchangerOf(request: RestRequest, { verb, headersTimeoutMs, idleTimeoutMs, span }: Operation) {
  const own = { headersTimeoutMs, idleTimeoutMs, span, watch: verb === 'watch' };
  return {
    origin: () => request.origin(),
    exchange: (sink: TransportSink, options: ExchangeOptions = {}) => request.exchange(sink, { ...options, ...own }),
  };
}
