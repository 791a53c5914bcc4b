import { Buffer } from 'node:buffer';
import type { GroupVersionKind } from 'riata/object';
import { describeError, type Logger, link, type Scheduler, systemRandom } from 'riata/runtime';
import type { Aggregation } from '../aggregation/aggregation.js';
import type { AuditLog } from '../audit/audit-log.js';
import type { AuditedRequest } from '../audit/audited-request.js';
import { anonymous, type UserInfo } from '../authentication/user-info.js';
import type { RequestGate } from '../authorization/access-control.js';
import type { FlowControl, Turn } from '../flow-control/flow-control.js';
import { loadWriteParts } from '../load-write-parts.js';
import type { Measured, ServerMetrics } from '../metrics/server-metrics.js';
import type { OpenApi } from '../openapi/open-api.js';
import { deprecationOf } from '../resource/built-in/deprecation.js';
import { patchTypesOf } from '../resource/patch-object.js';
import type { ResourceTable } from '../resource/resource-table.js';
import { badRequest, methodNotSupported, Refusal } from '../status/refusal.js';
import { recordersOf, recordFailure } from './audit-recorders.js';
import { encodeBody } from './body/encode-body.js';
import { protobufType } from './body/media-type.js';
import { metadataOnly } from './body/metadata-only.js';
import * as negotiation from './body/negotiate.js';
import {
  jsonText,
  patchKindOf,
  readDeleteBody,
  readObjectBody,
  readPatchBody,
  yamlComplaintOf,
} from './body/request-body.js';
import { Deadline } from './deadline.js';
import { MarkedReply } from './marked-reply.js';
import { acceptsGzip, GzipReply } from './node/gzip-reply.js';
import { DiscoveryDocuments } from './non-resource/discovery-documents.js';
import type { OpenIdKeys } from './non-resource/openid.js';
import { type NonResourceParts, serveNonResource } from './non-resource/serve-non-resource.js';
import { isConnection, parseConnectOptions } from './options/connect-options.js';
import { parseDeleteOptions } from './options/delete-options.js';
import { parseGetOptions, parseListOptions } from './options/list-options.js';
import { parseIncludeObject } from './options/parse-include-object.js';
import { parseWriteOptions } from './options/write-options.js';
import { type Reply, sendBytes, sendPieces, withoutBody } from './reply.js';
import { isLongRunning, PathError, parseRequestInfo, type RequestInfo } from './request-info.js';
import { overdue, timeoutOf } from './request-timeout.js';
import { findRoute, type Route } from './route.js';
import { bodyKindOf, isPlainRead, proxiedPath, transformsOf } from './route-forms.js';
import { sendStream } from './send-stream.js';
import type { ServerRequest } from './server-request.js';
import { commonHeaders, PlainRefusal, sendFailure } from './status-answer.js';
import type { VerbAnswer, VerbHandlers, VerbRequest } from './verb-handlers.js';
import { Warnings } from './warnings.js';

/** What a {@link Dispatcher} works with. */
export interface DispatcherParts {
  readonly table: ResourceTable;
  readonly handlers: VerbHandlers;
  /** Authentication and authorization. */
  readonly gate: RequestGate;
  /** The keys that verify service account tokens. @default none are published */
  readonly openIdKeys?: () => OpenIdKeys;
  /** Limits how many requests are executed at once. @default nothing does */
  readonly flowControl?: Pick<FlowControl, 'enter'>;
  /** What other servers serve behind this one. @default nothing */
  readonly aggregation?: Aggregation | undefined;
  /** Records requests. @default none */
  readonly audit?: AuditLog | undefined;
  /** What requests are counted by, and what `/metrics` shows. @default nothing is counted, and there is no such path */
  readonly metrics?: ServerMetrics | undefined;
  /** Keeps answers back until what they show is durable. @default it is at once */
  readonly durability?: Durability;
  readonly clock: Scheduler;
  readonly log: Logger;
  /** Aborts when the server goes: watches then end, as they would after their time. */
  readonly stopping?: AbortSignal;
}

/** Whether writes are safe. */
export interface Durability {
  /** Resolves when everything that was written so far is durable; undefined if it is. Rejects while writes fail. */
  settled(): Promise<void> | undefined;
  /** Why nothing can be written at present. */
  readonly problem: Error | undefined;
}

/** What answers are recorded as. */
const jsonType = 'application/json' as const;

/** One exchange on its way. */
interface Exchange {
  readonly request: ServerRequest;
  readonly reply: MarkedReply;
  readonly info: RequestInfo;
  readonly warnings: Warnings;
  readonly user: UserInfo;
  readonly timeoutMs: number;
  readonly turn: Turn | undefined;
  readonly measured: Measured | undefined;
  readonly audited: AuditedRequest | undefined;
}

/** Accepts requests and answers them: authentication, routing, the verb, and the negotiated form of the answer. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #nonResource: NonResourceParts;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    const { table, clock, openIdKeys, aggregation, metrics } = parts;
    let documents: Promise<OpenApi> | undefined;
    // Loaded on first use: a server starts without it.
    const openApi = () => {
      documents ??= import('../openapi/open-api.js').then((module) => new module.OpenApi(table, clock));
      return documents;
    };
    const discovery = new DiscoveryDocuments(table, aggregation);
    this.#nonResource = { table, clock, discovery, openApi, openIdKeys, aggregation, metrics };
  }

  /** Answers a request. Never rejects: whatever happens is an answer, or, once one has begun, its end. */
  async handle(request: ServerRequest, to: Reply): Promise<void> {
    // A client that names the exchange gets its name back.
    const auditId = request.headers['audit-id'] || systemRandom.uuid();
    const reply = new MarkedReply(request.method === 'HEAD' ? withoutBody(to) : to, { 'audit-id': auditId });
    const warnings = new Warnings();
    const { log, gate, flowControl, aggregation, metrics, audit } = this.#parts;
    const measured = metrics?.measure(request);
    const audited = audit?.begin(request, auditId);
    if (audited !== undefined) reply.onHead = (status) => audited.responds(status);
    let info: RequestInfo | undefined;
    let turn: Turn | undefined;
    try {
      info = parsePath(request);
      const timeoutMs = timeoutOf(info);
      const user = this.#identify(request, info, reply, warnings, audited);
      turn = flowControl?.enter({ user, info, timeoutMs, signal: request.signal });
      if (turn !== undefined) reply.mark(turn.headers);
      if (turn?.ready !== undefined) await turn.ready;
      measured?.run(info);
      gate.check(user, info, audited);
      const exchange: Exchange = { request, reply, info, warnings, user, timeoutMs, turn, measured, audited };
      const other = aggregation?.find(info.path) ?? aggregation?.findOpenApi(info.path);
      if (aggregation !== undefined && other !== undefined) {
        const headers = { ...request.headers, 'audit-id': auditId };
        await aggregation.proxy(other, user, { ...request, headers }, reply);
        return;
      }
      // A second slash at the start leads away from the API, wherever the rest would lead.
      if (info.isResource && !info.path.startsWith('//')) await this.#serveResource(exchange);
      else await serveNonResource(this.#nonResource, exchange);
    } catch (error) {
      // The client has disconnected, and the error only follows from that.
      if (request.signal.aborted && error === request.signal.reason) return reply.abort();
      // What follows is no event of a watch.
      reply.onWrite = undefined;
      if (info !== undefined && turn?.ready !== undefined && isDropped(error)) measured?.drop(info);
      if (audited !== undefined) recordFailure(audited, error, info);
      await sendFailure({ request, reply, info, log, headers: warnings.headers() }, error);
    } finally {
      turn?.leave();
      measured?.end(reply.status, reply.bytes);
      audited?.complete();
    }
  }

  /** As kube-apiserver, unknown clients get one request per connection of HTTP/2, which costs them little and us much. */
  #identify(
    request: ServerRequest,
    info: RequestInfo,
    reply: MarkedReply,
    warnings: Warnings,
    audited: AuditedRequest | undefined,
  ): UserInfo {
    const warn = (text: string) => warnings.add(text);
    if (!request.http2) return this.#parts.gate.identify(request, info, warn, audited);
    reply.mark({ connection: 'close' });
    const user = this.#parts.gate.identify(request, info, warn, audited);
    if (user !== anonymous) reply.unmark('connection');
    return user;
  }

  async #serveResource(exchange: Exchange): Promise<void> {
    const { request, info } = exchange;
    const route = findRoute(request, info, this.#parts.table);
    if (!isPlainRead(route, info)) await loadWriteParts();
    const deprecation = deprecationOf(route.resource);
    if (deprecation !== undefined) {
      exchange.warnings.add(deprecation);
      exchange.audited?.annotate('k8s.io/deprecated', 'true');
    }
    if (route.verb === 'watch') return this.#watch(exchange, route);
    const deadline = this.#deadline(exchange);
    if (route.subresource?.name === 'proxy') {
      exchange.measured?.resource(info, route);
      return this.#proxy(exchange, route, deadline);
    }
    const produces = route.verb === 'list' ? negotiation.listProduces : negotiation.objectProduces;
    if (!route.custom) negotiation.checkRouteAccepts(request, produces);
    exchange.measured?.resource(info, route);
    // A client that does not read its answer is cut off when the time of the request is over.
    await deadline.limit(this.#answerAndSend(exchange, route, deadline));
  }

  /** What is behind a proxy agrees on the form of its answers with the client. */
  async #proxy(exchange: Exchange, route: Route, deadline: Deadline): Promise<void> {
    const { info } = exchange;
    const subresource = route.subresource as NonNullable<Route['subresource']>;
    const path = proxiedPath(info);
    const options = { ...parseConnectOptions(subresource, info.query), ...(path !== '' && { path }) };
    const toRequest = requestBuilder(exchange, route, { mediaType: jsonType, pretty: false, as: undefined }, deadline);
    const answer = await this.#parts.handlers.connect(toRequest({ options }));
    if ('respond' in answer) await sendStream(exchange, answer);
  }

  async #answerAndSend(exchange: Exchange, route: Route, deadline: Deadline): Promise<void> {
    const { negotiated, answer } = await this.#answer(exchange, route, deadline);
    await this.#send(exchange, route, negotiated, answer);
  }

  async #answer(exchange: Exchange, route: Route, deadline: Deadline) {
    const { request, info } = exchange;
    // kube-apiserver looks at the type of a patch before all else.
    const patchKind =
      route.verb === 'patch' ? patchKindOf(request, patchTypesOf(route.resource), route.custom) : undefined;
    const negotiated = negotiation.negotiate(request, info, transformsOf(route), route.custom);
    const { handlers } = this.#parts;
    const { audited } = exchange;
    // What is recorded is not taken from bytes.
    const shown: negotiation.Negotiated = audited?.needsResponse
      ? { ...negotiated, mediaType: jsonType, pretty: true }
      : negotiated;
    const toRequest = requestBuilder(exchange, route, shown, deadline);
    const { query } = info;
    const userAgent = request.headers['user-agent'];
    const run = async (): Promise<VerbAnswer> => {
      const { subresource } = route;
      if (subresource !== undefined && isConnection(subresource)) {
        if (query.has('dryRun')) throw badRequest('dryRun is not supported');
        this.#checkConnection(exchange, subresource.name);
        return handlers.connect(toRequest({ options: parseConnectOptions(subresource, query) }));
      }
      switch (route.verb) {
        case 'get':
          return handlers.get(toRequest({ options: parseGetOptions(query) }));
        case 'list':
          return handlers.list(toRequest({ options: parseListOptions(query, false) }));
        case 'create':
        case 'update': {
          const options = parseWriteOptions(query, route.verb, userAgent);
          const body = await readObjectBody(
            request,
            bodyKindOf(route),
            route.custom && route.subresource?.name !== 'scale',
            this.#parts.clock,
          );
          const yamlComplaint = options.fieldValidation === 'Ignore' ? undefined : await yamlComplaintOf(request);
          return handlers[route.verb](toRequest({ options, body, bodyText: () => jsonText(request), yamlComplaint }));
        }
        case 'patch': {
          const kind = patchKind ?? 'merge';
          const options = parseWriteOptions(query, kind === 'apply' ? 'apply' : 'patch', userAgent);
          const strict = options.fieldValidation !== 'Ignore';
          const patch = await readPatchBody(request, kind, strict);
          audited?.requestPatch(request.body);
          return handlers.patch(toRequest({ options, patch }));
        }
        case 'delete': {
          const body = await readDeleteBody(request, this.#parts.clock);
          audited?.deleteOptions(body);
          return handlers.delete(toRequest({ options: parseDeleteOptions(query, body) }));
        }
        default: {
          const options = parseListOptions(query, false);
          const body = await readDeleteBody(request, this.#parts.clock);
          audited?.deleteOptions(body);
          const deleteOptions = parseDeleteOptions(query, body);
          return handlers.deleteCollection(toRequest({ options, deleteOptions }));
        }
      }
    };
    const { durability } = this.#parts;
    if (durability?.problem !== undefined && !readVerbs.includes(route.verb)) throw notStored(durability.problem);
    try {
      return { negotiated, answer: await run() };
    } finally {
      // A refusal, too, may be about a write that a crash could still undo.
      const settled = durability?.settled();
      if (settled !== undefined) await settled.catch((error) => Promise.reject(notStored(error)));
    }
  }

  async #watch(exchange: Exchange, route: Route): Promise<void> {
    const { request, info, reply, measured } = exchange;
    if (!route.resource.verbs.includes('watch')) throw methodNotSupported(route.resource, 'watch');
    if (!route.custom) negotiation.checkRouteAccepts(request, negotiation.listProduces);
    measured?.resource(info, route);
    reply.onWrite = measured?.events(route.resource);
    const negotiated = negotiation.negotiateStream(request, info, negotiation.objectTransforms, route.custom);
    const options = parseListOptions(info.query, true);
    const selected = options.fields?.requiresExactMatch('metadata.name');
    if (route.name !== '' && selected !== undefined && selected !== route.name) {
      throw badRequest("fieldSelector metadata.name doesn't match requested name");
    }
    const inProtobuf = negotiated.mediaType === protobufType;
    const contentType = inProtobuf ? `${protobufType};stream=watch` : 'application/json';
    const writeEvent = inProtobuf ? (await import('../protobuf/envelope.js')).encodeEvent : undefined;
    const headers = { ...commonHeaders, 'content-type': contentType, ...exchange.warnings.headers() };
    using scope = link(request.signal, this.#parts.stopping);
    const toRequest = requestBuilder(exchange, route, negotiated, scope);
    const showsRows = negotiated.as?.kind === 'Table';
    const showRow = showsRows ? await this.#rowShower(route, negotiated.as, info) : undefined;
    const watching = this.#parts.handlers.watch(toRequest({ options, reply, headers, showRow, writeEvent }));
    // From here on it takes nothing but memory.
    exchange.turn?.leave();
    await watching;
  }

  /** Brings an answer to the form that was agreed on, and sends it. */
  async #send(exchange: Exchange, route: Route, negotiated: negotiation.Negotiated, answer: VerbAnswer): Promise<void> {
    const { request, warnings } = exchange;
    const reply = acceptsGzip(request.headers['accept-encoding']) ? new GzipReply(exchange.reply) : exchange.reply;
    const { mediaType, pretty, as } = negotiated;
    if ('serve' in answer || 'text' in answer || 'respond' in answer) return sendStream(exchange, answer);
    if (!('object' in answer || 'pieces' in answer)) {
      return sendBytes(reply, answer.status, { ...commonHeaders, ...warnings.headers() }, Buffer.alloc(0));
    }
    const headers = { ...commonHeaders, 'content-type': mediaType, ...warnings.headers() };
    const status = answer.status ?? 200;
    const converts = as !== undefined && !('converted' in answer && answer.converted);
    const isReady = 'pieces' in answer && (answer.mediaType ?? 'application/json') === mediaType;
    if (isReady && !(pretty && mediaType === 'application/json') && !converts) {
      reply.head(status, headers);
      return sendPieces(reply, answer.pieces);
    }
    const plain = 'pieces' in answer ? await whole(answer.pieces) : answer.object;
    const value = converts ? await this.#converted(plain, as, exchange.info, route) : plain;
    exchange.audited?.responseObject(value);
    sendBytes(reply, status, headers, await encodeBody(value, mediaType, pretty));
  }

  async #converted(value: unknown, as: GroupVersionKind, { query }: RequestInfo, route: Route): Promise<unknown> {
    if (as.kind !== 'Table') return metadataOnly(value, as);
    // Loaded on first use: a server starts without it.
    const { showAnswer } = await import('../table/show.js');
    return showAnswer(value, { ...route, as, includeObject: parseIncludeObject(query), clock: this.#parts.clock });
  }

  async #rowShower(route: Route, as: GroupVersionKind, { query }: RequestInfo) {
    const includeObject = parseIncludeObject(query);
    const { rowShower } = await import('../table/show.js');
    return rowShower({ ...route, as, includeObject, clock: this.#parts.clock });
  }

  #deadline({ request, info, timeoutMs: usual }: Exchange): Deadline {
    const timeoutMs = isLongRunning(info) ? Number.POSITIVE_INFINITY : usual;
    return new Deadline({ clock: this.#parts.clock, timeoutMs, gone: request.signal, overdue });
  }

  /** A WebSocket begins with a GET, but who runs something must be allowed to create. */
  #checkConnection({ user, info, audited }: Exchange, subresource: string): void {
    if (info.verb === 'get' && subresource !== 'proxy')
      this.#parts.gate.check(user, { ...info, verb: 'create' }, audited);
  }
}

const readVerbs: readonly string[] = ['get', 'list', 'watch'];

/** Whether flow control has rejected a request. */
function isDropped(error: unknown): boolean {
  return error instanceof PlainRefusal && error.code === 429;
}

function notStored(error: unknown): Refusal {
  return new Refusal(500, 'InternalError', `Internal error occurred: ${describeError(error)}`);
}

function parsePath(request: ServerRequest): RequestInfo {
  try {
    return parseRequestInfo(request.method, request.path);
  } catch (error) {
    throw error instanceof PathError ? new PlainRefusal(error.code, error.message) : error;
  }
}

/** Adds the parameters of all verbs. The signal is created on first use. */
function requestBuilder(
  { warnings, user, audited }: Exchange,
  { resource, subresource, namespace, name }: Route,
  negotiated: negotiation.Negotiated,
  scope: { readonly signal: AbortSignal },
) {
  return <T extends object>(own: T): T & Omit<VerbRequest<unknown>, 'options'> => ({
    resource,
    subresource,
    namespace,
    name,
    negotiated,
    user,
    warn: (text) => warnings.add(text),
    get signal() {
      return scope.signal;
    },
    ...(audited && recordersOf(audited)),
    ...own,
  });
}

async function whole(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<unknown> {
  const collected: Uint8Array[] = [];
  for await (const piece of pieces) collected.push(piece);
  return JSON.parse(Buffer.concat(collected).toString('utf8'));
}
