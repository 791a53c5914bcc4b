import { isJsonObject } from '../../object/json.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeList, KubeObject, Status } from '../../object/meta.js';
import type { ObjectDecoder } from '../../object/scan/decode-object.js';
import type { ByteStream } from '../../rest/stream/byte-stream.js';
import type { ListStream } from '../../rest/stream/list-stream.js';
import type { ElementTimer } from '../../rest/stream/stream-timer.js';
import type { WatchStream } from '../../rest/stream/watch-stream.js';
import type { OpenWebSocket } from '../../rest/websocket/open-web-socket.js';
import type { Span } from '../../runtime/tracing.js';
import type { Preconditions } from '../options.js';

/**
 * The verb of an operation, as RBAC names it. `connect` streams bytes, as Pod logs do; `stream` opens a WebSocket, as
 * exec and port-forward do.
 */
export type Verb = 'get' | 'list' | 'watch' | 'connect' | 'stream' | WriteVerb;

/** The verbs that change something. */
export type WriteVerb = 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/**
 * One call on its way to the server, as plain data: wrappers and interceptors look at it, pass on a changed copy, or
 * answer themselves.
 */
export interface Operation<V extends Verb = Verb> {
  readonly verb: V;
  readonly kind: KindRef;
  readonly namespace?: string;
  readonly name?: string;
  /** E.g. `status`, `scale`, `log`. */
  readonly subresource?: string;
  /** The query. */
  readonly params: Readonly<Record<string, string>>;
  /** Parameters of the query that may come several times, as the words of a command do; after `params`. */
  readonly repeatedParams?: readonly (readonly [name: string, value: string])[];
  /** `stream` only: the subprotocols that are offered, the best one first. */
  readonly protocols?: readonly string[];
  /** `connect` only: the path behind the subresource, as a proxy takes it. */
  readonly suffix?: string;
  /**
   * `connect` only: path and query behind the subresource, escaped and sent as they are, as to the target of a proxy. The
   * answer then comes whatever its status.
   */
  readonly proxied?: string;
  /** `connect` only: the body as it is sent, in place of `body`. One in pieces is sent once, and never again. */
  readonly rawBody?: Uint8Array | string | AsyncIterable<Uint8Array>;
  /** `connect` only: the HTTP method. @default 'GET' */
  readonly method?: string;
  /** More headers, e.g. to ask for another form of the answer. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** The body: JSON, before serialisation. */
  readonly body?: unknown;
  /** @default 'application/json' */
  readonly contentType?: string;
  /**
   * Apply patches only: the object as stored, as far as the caller knows. If the apply is a no-op, this is the answer,
   * and no request is made.
   */
  readonly current?: KubeObject;
  readonly cutManagedFields?: boolean;
  /** Freezes the object in the answer, so that it can be shared. */
  readonly freezeAnswer?: boolean;
  /** How the objects of a list or watch are made of their bytes. @default parsed */
  readonly decoder?: ObjectDecoder;
  /** Longest wait for the answer to begin. 0 = none. @default the transport's own */
  readonly headersTimeoutMs?: number;
  /** Longest silence in the answer. 0 = none. @default the transport's own */
  readonly idleTimeoutMs?: number;
  /** Watches only: see `WatchOptions.timer`. */
  readonly timer?: ElementTimer;
  readonly signal?: AbortSignal;
  /** How often the request may be sent again. @default 10 */
  readonly maxRetries?: number;
  /** Parent span, for tracing. An interceptor can set it for all calls of a client. */
  readonly span?: Span;
  /**
   * Writes only: the UID and resourceVersion that the stored object must still have, or the server refuses
   * (`isConflict`). They are put into the body where the request is described, so that wrappers and the check for no-op
   * applies see the body as the caller wrote it. Values in the body win.
   */
  readonly preconditions?: Preconditions;
  /**
   * Called right before each attempt, when all waits are over. If it throws, nothing is sent and the operation fails
   * with that error: the place for a fence.
   */
  readonly beforeSend?: () => void;
}

/** The result of each verb. */
export interface Answers {
  get: KubeObject;
  list: ListStream<KubeObject>;
  watch: WatchStream<KubeObject>;
  create: KubeObject;
  update: KubeObject;
  patch: KubeObject;
  /** The object, if it still exists (finalizers, grace period), else a Status. */
  delete: KubeObject | Status;
  /** The deleted object, its last state, or a Status where the server returns one. */
  deletecollection: KubeList | Status;
  connect: ByteStream;
  stream: OpenWebSocket;
}

/** Carries out an operation. A client is typed methods over one of these; each wrapper turns one into another. */
export type Run = <V extends Verb>(operation: Operation<V>) => Promise<Answers[V]>;

/** True for a verb that changes something. */
export function isWrite(verb: Verb): verb is WriteVerb {
  return verb !== 'get' && verb !== 'list' && verb !== 'watch' && verb !== 'connect' && verb !== 'stream';
}

/** True for an operation that goes through admission and validation and stores nothing. */
export function isDryRun({ params, body }: Operation): boolean {
  return params.dryRun !== undefined || (isJsonObject(body) && body.kind === 'DeleteOptions' && Boolean(body.dryRun));
}
