import { isJsonObject } from '../../object/json.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { freeze } from '../../object/value/freeze.js';
import { carryLoss } from '../../object/value/lossy.js';
import { describeValue } from '../../object/with-metadata.js';
import { jsonOf } from '../../rest/request/rest-result.js';
import { patchTypes, type RestClient, requestSender } from '../../rest/rest-client.js';
import { ByteStream } from '../../rest/stream/byte-stream.js';
import { listStream } from '../../rest/stream/list-stream.js';
import { watchStream } from '../../rest/stream/watch-stream.js';
import { openWebSocket } from '../../rest/websocket/open-web-socket.js';
import { metadataPart } from '../metadata-part.js';
import { tableAccept } from '../table.js';
import type { Answers, Operation, Run, Verb } from './operation.js';
import { operationRequest } from './operation-request.js';
import { UnchangedApplies } from './unchanged-applies.js';
import type { WriteHook } from './write-hook.js';

/**
 * The innermost {@link Run}, below all wrappers: an apply that is a no-op is answered, everything else is sent, and writes
 * are reported before the call resolves.
 */
export function runOver(rest: RestClient, writes: WriteHook): Run {
  const send = sendOver(rest);
  const applies = new UnchangedApplies();
  return async <V extends Verb>(operation: Operation<V>): Promise<Answers[V]> => {
    const id = applies.idOf(operation);
    const unchanged = id === undefined ? undefined : applies.find(id, operation);
    if (unchanged !== undefined) return unchanged as Answers[V];
    let answer: Answers[V];
    try {
      answer = await send(operation);
    } catch (error) {
      writes.failed(operation, error);
      throw error;
    }
    writes.answered(operation, answer);
    if (id !== undefined) applies.remember(id, operation, answer as KubeObject);
    return answer;
  };
}

/** Sends operations as requests to the server. */
function sendOver(rest: RestClient): Run {
  const sender = rest[requestSender];
  const { clock, maxObjectBytes } = sender;
  const runs: { readonly [V in Verb]: (operation: Operation<V>) => Promise<Answers[V]> } = {
    get: oneObject,
    create: oneObject,
    update: oneObject,
    patch: oneObject,
    delete: oneObject,
    deletecollection: (operation) => whole(operation) as Promise<Answers['deletecollection']>,
    stream: (operation) => openWebSocket(sender, operationRequest(operation, sender), operation.protocols ?? []),
    connect: async (operation) => new ByteStream(await sender.open(operationRequest(operation, sender))),
    list: (operation) => {
      const { cutManagedFields, decoder, signal, kind } = operation;
      const transform = projectionOf(kind);
      const options = { cutManagedFields, decoder, signal, clock, itemType: kind, transform, maxObjectBytes };
      return listStream<KubeObject>(sender.exchanger(operationRequest(operation, sender)), options).open();
    },
    watch: (operation) => {
      const { cutManagedFields, decoder, timer, signal, kind } = operation;
      const transform = projectionOf(kind);
      const options = { cutManagedFields, decoder, timer, signal, clock, transform, maxObjectBytes };
      return watchStream<KubeObject>(sender.exchanger(operationRequest(operation, sender)), options).open();
    },
  };

  function whole(operation: Operation): Promise<unknown> {
    return sender.whole(operationRequest(operation, sender), jsonOf);
  }

  function oneObject(operation: Operation): Promise<KubeObject> {
    const { cutManagedFields, freezeAnswer } = operation;
    return sender.whole(operationRequest(operation, sender), (response) => {
      const object = objectOf(operation, jsonOf(response, { cutManagedFields }));
      return freezeAnswer ? freeze(object) : object;
    });
  }

  return <V extends Verb>(operation: Operation<V>): Promise<Answers[V]> => {
    try {
      checkAddress(operation);
      return runs[operation.verb](operation);
    } catch (error) {
      return Promise.reject(error);
    }
  };
}

const namedVerbs: ReadonlySet<Verb> = new Set(['get', 'update', 'patch', 'delete']);

/** Refuses what would become a request for something else: no name means a list, no namespace means all of them. */
function checkAddress(operation: Operation): void {
  const { verb, kind, name, namespace = '', subresource } = operation;
  const isTable = verb === 'get' && operation.headers?.accept === tableAccept;
  const needsName = namedVerbs.has(verb) || subresource !== undefined;
  if (name === '' || (needsName && !isTable && name === undefined)) {
    throw new TypeError(`${describeCall(operation)}: the name is missing`);
  }
  if (subresource === '') {
    throw new TypeError(`${describeCall(operation)}: the subresource is missing; name one, such as "status"`);
  }
  if (kind.scope === 'Cluster' && namespace !== '') {
    throw new TypeError(
      `${describeCall(operation)}: ${kind.kind} is cluster-scoped; omit the namespace, got "${namespace}"`,
    );
  }
  const spansNamespaces = verb === 'list' || verb === 'watch' || isTable;
  if (kind.scope === 'Namespaced' && namespace === '' && !spansNamespaces) {
    throw new TypeError(`${describeCall(operation)}: the namespace is missing; set one, or use inNamespace(client, …)`);
  }
  if (operation.contentType === patchTypes.apply && !operation.params.fieldManager) {
    throw new TypeError(
      `apply ${kind.kind}: the field manager is missing; set the option fieldManager, or use withFieldOwner(client, …)`,
    );
  }
}

function describeCall({ verb, kind, name }: Operation): string {
  return `${verb} ${kind.kind}${name ? ` ${JSON.stringify(name)}` : ''}`;
}

/**
 * The object in a response, with `apiVersion` and `kind` where the server left them out, and no more than was
 * requested.
 */
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

function projectionOf(kind: KindRef): ((object: KubeObject) => KubeObject) | undefined {
  return kind.projection === 'metadata' ? (object) => metadataPart(object, kind) : undefined;
}
