import type { GroupVersionKind, GroupVersionResource } from '../../object/gvk.js';
import type { Status } from '../../object/meta.js';
import type { JsonPatch } from '../../object/patch/json-patch.js';

/** The user who makes a request, as a review carries it (`authentication.UserInfo`). */
export interface ReviewUserInfo {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** A request to the API server that waits for admission, as it is on the wire (`admission.AdmissionRequest`). */
export interface AdmissionRequest<T = unknown> {
  /** Identifies this call; the response repeats it. */
  readonly uid: string;
  /** The kind of `object`, in the version that the webhook asked for. */
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subResource?: string;
  /** The kind of the original request, if the server converted the object. */
  readonly requestKind?: GroupVersionKind;
  readonly requestResource?: GroupVersionResource;
  readonly requestSubResource?: string;
  /** Absent on a create with `generateName`. */
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT' | (string & {});
  readonly userInfo: ReviewUserInfo;
  /** Null on a delete. */
  readonly object?: T | null;
  /** Null on a create. */
  readonly oldObject?: T | null;
  readonly dryRun?: boolean;
  /** `CreateOptions`, `UpdateOptions`, `PatchOptions` or `DeleteOptions`; null on a connect. */
  readonly options?: Readonly<Record<string, unknown>> | null;
}

/**
 * The answer of a raw handler (`admission.Response`). `uid`, and `code` where the status has none, are filled in. Give
 * `patches`, which is encoded for you, or `patch` with its `patchType` as on the wire.
 */
export interface AdmissionResponse {
  readonly allowed: boolean;
  readonly status?: Status;
  readonly patches?: JsonPatch;
  /** In base64. */
  readonly patch?: string;
  readonly patchType?: 'JSONPatch' | (string & {});
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

/** The versions of `AdmissionReview` that there are. They have the same fields. */
export type ReviewVersion = 'v1' | 'v1beta1';
