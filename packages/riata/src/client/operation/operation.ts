import { isJsonObject } from '../../object/json.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeList, KubeObject, Status } from '../../object/meta.js';
import type { ObjectDecoder } from '../../object/scan/decode-object.js';
import type { ByteStream } from '../../rest/stream/byte-stream.js';
import type { ListStream } from '../../rest/stream/list-stream.js';
import type { WatchStream } from '../../rest/stream/watch-stream.js';
import type { Span } from '../../runtime/tracing.js';
import type { Preconditions } from '../options.js';

/** What is asked of the server, in the words that RBAC uses. `connect` streams bytes, as Pod logs do. */
export type Verb = 'get' | 'list' | 'watch' | 'connect' | WriteVerb;

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
  /** More headers, e.g. to ask for another form of the answer. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** What is written: JSON, before serialisation. */
  readonly body?: unknown;
  /** @default 'application/json' */
  readonly contentType?: string;
  /**
   * Apply patches only: what is stored now, as far as the caller knows. If applying would not change it, it is the
   * answer, and no request is made.
   */
  readonly current?: KubeObject;
  readonly cutManagedFields?: boolean;
  /** Whoever hears of the answer may keep it, as it is frozen; where that is not possible, it is an object like others. */
  readonly freezeAnswer?: boolean;
  /** How the objects of a list or watch are made of their bytes. @default parsed */
  readonly decoder?: ObjectDecoder;
  /** Longest wait for the answer to begin. 0 = none. @default the transport's own */
  readonly headersTimeoutMs?: number;
  /** Longest silence in the answer. 0 = none. @default the transport's own */
  readonly idleTimeoutMs?: number;
  readonly signal?: AbortSignal;
  /** How often the request may be sent again. @default 10 */
  readonly maxRetries?: number;
  /** What it is part of, for tracing. An interceptor can set it for all that a client does. */
  readonly span?: Span;
  /**
   * Writes only: what the stored object must still be, or the server refuses (`isConflict`). Put into the body where
   * the request is made, so that wrappers and the skipping of needless applies see the body as the caller wrote it. What
   * the body says itself stays.
   */
  readonly preconditions?: Preconditions;
  /**
   * Called right before each sending of the request, when all waits are over. What it throws is the outcome, and nothing
   * is sent: the place for a fence.
   */
  readonly beforeSend?: () => void;
}

/** What each verb resolves to. */
export interface Answers {
  get: KubeObject;
  list: ListStream<KubeObject>;
  watch: WatchStream<KubeObject>;
  create: KubeObject;
  update: KubeObject;
  patch: KubeObject;
  /** The object, if it still exists (finalizers, grace period), else a Status. */
  delete: KubeObject | Status;
  /** What was deleted or is about to be, or a Status where the server does not tell. */
  deletecollection: KubeList | Status;
  connect: ByteStream;
}

/** Carries an operation out. The whole client is typed words over one of these; each wrapper makes one from another. */
export type Run = <V extends Verb>(operation: Operation<V>) => Promise<Answers[V]>;

/** True for a verb that changes something. */
export function isWrite(verb: Verb): verb is WriteVerb {
  return verb !== 'get' && verb !== 'list' && verb !== 'watch' && verb !== 'connect';
}

/** True for an operation that goes through admission and validation and stores nothing. */
export function isDryRun({ params, body }: Operation): boolean {
  return params.dryRun !== undefined || (isJsonObject(body) && body.kind === 'DeleteOptions' && Boolean(body.dryRun));
}
