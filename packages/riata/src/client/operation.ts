import type { KindRef } from '../object/kind.js';
import type { KubeObject, Status } from '../object/meta.js';
import type { ByteStream } from '../rest/byte-stream.js';
import type { ListStream } from '../rest/list-stream.js';
import type { WatchStream } from '../rest/watch-stream.js';

/** What is asked of the server, in the words that RBAC uses. `connect` streams bytes, as Pod logs do. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection' | 'connect';

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
  readonly cutManagedFields?: boolean;
  readonly idleTimeoutMs?: number;
  readonly signal?: AbortSignal;
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
  deletecollection: unknown;
  connect: ByteStream;
}

/** Carries an operation out. The whole client is typed words over one of these; each wrapper makes one from another. */
export type Run = <V extends Verb>(operation: Operation<V>) => Promise<Answers[V]>;

/** True for a verb that changes something. */
export function isWrite(verb: Verb): verb is 'create' | 'update' | 'patch' | 'delete' | 'deletecollection' {
  return verb !== 'get' && verb !== 'list' && verb !== 'watch' && verb !== 'connect';
}
