import type { JsonObject, KubeObject } from 'riata/object';
import type { UserInfo } from '../authentication/user-info.js';
import type { ServeConnection } from '../containers/connect-pod.js';
import type { Respond } from '../containers/serve-proxy.js';
import type { Resource, Subresource } from '../resource/resource.js';
import type { WriteEvent } from '../watch/event-encoder.js';
import type { Negotiated } from './body/negotiate.js';
import type { PatchBody } from './body/request-body.js';
import type { DeleteOptions } from './options/delete-options.js';
import type { ListOptions, ReadOptions } from './options/list-options.js';
import type { WriteOptions } from './options/write-options.js';
import type { Reply, ReplyHeaders } from './reply.js';

/** The parameters of every verb. */
export interface VerbRequest<Options> {
  readonly resource: Resource;
  /** Undefined for the object itself. */
  readonly subresource: Subresource | undefined;
  /** `''` for what lives in none, and for lists of all namespaces. */
  readonly namespace: string;
  /** `''` for verbs on a collection, unless its path or a field selector names one object. */
  readonly name: string;
  readonly options: Options;
  readonly negotiated: Negotiated;
  /** The user. */
  readonly user: UserInfo;
  /** Says something to the caller that is no error. Not after the answer has begun. */
  warn(text: string): void;
  /** Aborts when the client has disconnected, the request has timed out, or the server stops. */
  readonly signal: AbortSignal;
  /** Adds an annotation to the audit event of the request. @default nothing is recorded */
  annotate?(key: string, value: string, level?: 'Request'): void;
  /** Records the object that was sent, as it was understood. @default nothing is recorded */
  recordBody?(object: JsonObject): void;
}

/** A create or an update; for a create below an object (`pods/x/binding`), `name` is that of the object. */
export interface BodyRequest extends VerbRequest<WriteOptions> {
  readonly body: JsonObject;
  /** The JSON text that the body was read from, for who looks for what reading drops; undefined if it was YAML. */
  bodyText(): string | undefined;
  /** The errors of a strict decoding of a YAML body; undefined if there are none, or if they must not be reported. */
  readonly yamlComplaint: string | undefined;
}

export interface PatchVerbRequest extends VerbRequest<WriteOptions> {
  readonly patch: PatchBody;
}

export interface WatchVerbRequest extends VerbRequest<ListOptions> {
  /** Where events go, once the head is sent: `reply.head(200, headers)`. A slow reader shows by `write` and `drained`. */
  readonly reply: Reply;
  /** Additional headers. */
  readonly headers: ReplyHeaders;
  /** Writes one event. @default as a line of JSON */
  readonly writeEvent?: WriteEvent;
  /** Makes the Table of one object, where Tables are requested; used for this watch only. */
  readonly showRow?: (object: KubeObject) => unknown;
}

export interface DeleteCollectionRequest extends VerbRequest<ListOptions> {
  readonly deleteOptions: DeleteOptions;
}

/** The answer: an object or a list. The caller converts it to the negotiated form. */
export type VerbAnswer =
  | { readonly status?: number; readonly object: object }
  /** Nothing at all, in no form. */
  | { readonly status: 204 }
  /** Another protocol than HTTP: the connection is taken over until this resolves. */
  | { readonly serve: ServeConnection }
  /** An answer of something else, that comes as long as it likes. */
  | { readonly respond: Respond }
  /** Text that comes as long as it likes. */
  | { readonly text: AsyncIterable<Uint8Array> }
  | {
      readonly status?: number;
      /** In pieces, for what is too long to be made at once. */
      readonly pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
      /** The type of the pieces. @default 'application/json' */
      readonly mediaType?: string;
      /** Set when the pieces are already what `negotiated.as` asks for. @default false */
      readonly converted?: boolean;
    };

/**
 * Serves resources, one function for each verb. They may throw a `Refusal`; any other error is a fault of the server.
 * The caller has checked that the resource has the verb.
 */
export interface VerbHandlers {
  get(request: VerbRequest<ReadOptions>): Promise<VerbAnswer>;
  list(request: VerbRequest<ListOptions>): Promise<VerbAnswer>;
  /** Resolves when the watch has ended. */
  watch(request: WatchVerbRequest): Promise<void>;
  create(request: BodyRequest): Promise<VerbAnswer>;
  update(request: BodyRequest): Promise<VerbAnswer>;
  patch(request: PatchVerbRequest): Promise<VerbAnswer>;
  delete(request: VerbRequest<DeleteOptions>): Promise<VerbAnswer>;
  deleteCollection(request: DeleteCollectionRequest): Promise<VerbAnswer>;
  /** Connects the caller to something else, e.g. to a process in a Pod; `options` are the object that says how. */
  connect(request: VerbRequest<JsonObject>): Promise<VerbAnswer>;
}
