import type { JsonObject, KubeObject } from 'riata/object';
import type { UserInfo } from '../authentication/user-info.js';
import type { Resource, Subresource } from '../resource/resource.js';
import type { WriteEvent } from '../watch/event-encoder.js';
import type { Negotiated } from './body/negotiate.js';
import type { PatchBody } from './body/request-body.js';
import type { DeleteOptions } from './options/delete-options.js';
import type { ListOptions, ReadOptions } from './options/list-options.js';
import type { WriteOptions } from './options/write-options.js';
import type { Reply, ReplyHeaders } from './reply.js';

/** What every verb is told. */
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
  /** Who asks. */
  readonly user: UserInfo;
  /** Says something to the caller that is no error. Not after the answer has begun. */
  warn(text: string): void;
  /** Aborts when the client has gone, the time for the request is over, or the server stops. */
  readonly signal: AbortSignal;
}

/** A create or an update; for a create below an object (`pods/x/binding`), `name` is that of the object. */
export interface BodyRequest extends VerbRequest<WriteOptions> {
  readonly body: JsonObject;
  /** The JSON text that the body was read from, for who looks for what reading drops; undefined if it was YAML. */
  bodyText(): string | undefined;
  /** What a strict reading of a YAML body complains about; undefined if nothing, or if it is not to be told. */
  readonly yamlComplaint: string | undefined;
}

export interface PatchVerbRequest extends VerbRequest<WriteOptions> {
  readonly patch: PatchBody;
}

export interface WatchVerbRequest extends VerbRequest<ListOptions> {
  /** Where events go, once the head is sent: `reply.head(200, headers)`. A slow reader shows by `write` and `drained`. */
  readonly reply: Reply;
  /** What belongs into the head. */
  readonly headers: ReplyHeaders;
  /** Writes one event. @default as a line of JSON */
  readonly writeEvent?: WriteEvent;
  /** Makes the Table of one object, where Tables are asked for; made for this watch alone. */
  readonly showRow?: (object: KubeObject) => unknown;
}

export interface DeleteCollectionRequest extends VerbRequest<ListOptions> {
  readonly deleteOptions: DeleteOptions;
}

/** What is answered: an object or a list. It is brought to the negotiated form by whoever asked. */
export type VerbAnswer =
  | { readonly status?: number; readonly object: object }
  /** Nothing at all, in no form. */
  | { readonly status: 204 }
  | {
      readonly status?: number;
      /** In pieces, for what is too long to be made at once. */
      readonly pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
      /** What the pieces are. @default 'application/json' */
      readonly mediaType?: string;
      /** Set when the pieces are already what `negotiated.as` asks for. @default false */
      readonly converted?: boolean;
    };

/**
 * What serves resources, one function for each verb. They may throw a `Refusal`; anything else that is thrown is a
 * fault of the server. Whether a resource has a verb at all has been looked up before.
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
}
