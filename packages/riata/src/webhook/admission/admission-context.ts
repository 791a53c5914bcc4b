import type { Client } from '../../client/interfaces.js';
import type { GroupVersionKind } from '../../object/gvk.js';
import type { Logger } from '../../runtime/log/logger.js';
import type { AdmissionRequest } from './admission-review.js';
import type { DenialOptions } from './denials.js';
import type { FieldPath, PathsOf } from './field-path.js';

/** What a request does to an object. */
export type AdmissionOperation = 'create' | 'update' | 'delete' | 'connect';

/** Who makes the request (`authentication.UserInfo`). */
export interface AdmissionUser {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** The options of a request, as far as clients send them; which ones there are depends on the operation. */
export interface AdmissionCallOptions {
  readonly apiVersion?: string;
  /** `CreateOptions`, `UpdateOptions`, `PatchOptions`, `DeleteOptions`. */
  readonly kind?: string;
  readonly dryRun?: readonly string[];
  readonly fieldManager?: string;
  readonly fieldValidation?: string;
  /** Of an apply: take over the fields of others. */
  readonly force?: boolean;
  /** Of a delete. */
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: string;
  readonly orphanDependents?: boolean;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** Refuses the request; see {@link AdmissionCall.deny}. */
export interface Deny {
  (path: FieldPath | string, message: string, options?: DenialOptions): void;
  (message: string): void;
}

/** Everything that a handler knows besides the object. */
export interface AdmissionCall<T> {
  readonly user: AdmissionUser;
  /** Nothing will be stored. */
  readonly dryRun: boolean;
  /** The options that the client sent; empty on a connect. */
  readonly options: AdmissionCallOptions;
  /** `status`, `scale`, `exec`…; `''` for the object itself. */
  readonly subresource: string;
  /** `''` on a create with `generateName`, as long as the server has not made up a name. */
  readonly name: string;
  /** `''` for a cluster-scoped object. */
  readonly namespace: string;
  /** Of the object in this call. */
  readonly kind: GroupVersionKind;
  /** The review's request as it came in. */
  readonly request: AdmissionRequest;
  /**
   * Reads declared kinds from the cache and others from the server, as in a reconciler. It refuses to write, unless the
   * webhook has `sideEffects: 'noneOnDryRun'` and the request is not a dry run. Access reviews and dry runs are no writes.
   */
  readonly client: Client;
  /** Aborts shortly before the API server stops waiting; the request is then refused, or let pass by `failurePolicy`. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /**
   * Refuses the request, after all handlers have run. Denials of fields come back as one `Invalid` (422) with a cause for
   * each field; without any, plain denials come back as `Forbidden` (403).
   */
  readonly deny: Deny;
  /**
   * Shows the client a warning, whether the request is allowed or not. Longer texts than 256 characters are cut, and all
   * together have at most 4096: that is what API servers pass on.
   */
  readonly warn: (text: string) => void;
  /** Adds an annotation to the API server's audit event, as `<webhook's name>/<key>`. */
  readonly audit: (key: string, value: string) => void;
  /** Paths of the object's fields, for {@link deny}: `path.spec.ports[0].name`. */
  readonly path: PathsOf<T>;
}

/** The context of a create. */
export interface CreateContext<T> extends AdmissionCall<T> {
  readonly operation: 'create';
  /** The new object. Mutations see it before the server has given it a `uid`, and perhaps a name. */
  readonly object: T;
  readonly old: undefined;
}

/** The context of an update, patch or apply. */
export interface UpdateContext<T> extends AdmissionCall<T> {
  readonly operation: 'update';
  readonly object: T;
  /** The object as it is stored. */
  readonly old: T;
}

/** The context of a delete. */
export interface DeleteContext<T> extends AdmissionCall<T> {
  readonly operation: 'delete';
  readonly object: undefined;
  /** The object that is about to be deleted. */
  readonly old: T;
}

/** The context of a connect: exec, attach, portforward, proxy. */
export interface ConnectContext<T> extends AdmissionCall<T> {
  readonly operation: 'connect';
  /** The options of the connection, such as `PodExecOptions`. */
  readonly object: T;
  readonly old: undefined;
}

interface Contexts<T> {
  readonly create: CreateContext<T>;
  readonly update: UpdateContext<T>;
  readonly delete: DeleteContext<T>;
  readonly connect: ConnectContext<T>;
}

/** The context of a request that is one of the operations `Op`; see its `operation`. */
export type AdmissionContext<T, Op extends AdmissionOperation = 'create' | 'update'> = Contexts<T>[Op];
