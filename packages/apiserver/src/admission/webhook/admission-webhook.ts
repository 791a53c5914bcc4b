import { Buffer } from 'node:buffer';
import type { KubeObject, Status } from 'riata/object';
import type { InProcessHandler } from '../../webhook-client/in-process-handlers.js';
import type { AdmissionOperation } from '../admission.js';

/** The request to an admission webhook (`admission.k8s.io` `AdmissionRequest`). */
export interface AdmissionReviewRequest<T = KubeObject> {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly resource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly subResource?: string;
  readonly requestKind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly requestResource: { readonly group: string; readonly version: string; readonly resource: string };
  readonly requestSubResource?: string;
  /** Undefined for an object whose name is yet to be generated, and for each object of a deleted collection. */
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: AdmissionOperation;
  readonly userInfo: {
    readonly username?: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
  /** Null on DELETE. */
  readonly object: T | null;
  /** As stored; null on CREATE and CONNECT. */
  readonly oldObject: T | null;
  readonly dryRun: boolean;
  readonly options: object | null;
}

/** The response of an admission webhook (`admission.k8s.io` `AdmissionResponse`). */
export interface AdmissionReviewResponse {
  readonly allowed: boolean;
  /** Why it is denied. */
  readonly status?: Partial<Pick<Status, 'message' | 'reason' | 'code' | 'details'>>;
  /** A JSON patch; for mutating webhooks only. */
  readonly patch?: readonly object[];
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: Readonly<Record<string, string>>;
}

/**
 * A handler for `ApiServer.handle` that answers admission reviews, of either version.
 *
 * @example
 * server.handle('https://hooks.shop.svc/default', admissionWebhook<ConfigMap>(({ object }) =>
 *   object?.data === undefined
 *     ? { allowed: true, patch: [{ op: 'add', path: '/data', value: {} }] }
 *     : { allowed: true }));
 */
export function admissionWebhook<T = KubeObject>(
  review: (request: AdmissionReviewRequest<T>) => AdmissionReviewResponse | Promise<AdmissionReviewResponse>,
): InProcessHandler {
  return async (sent) => {
    const { apiVersion, kind, request } = (await sent.json()) as {
      readonly apiVersion: string;
      readonly kind: string;
      readonly request: AdmissionReviewRequest<T>;
    };
    const { patch, ...response } = await review(request);
    const encoded =
      patch === undefined || patch.length === 0
        ? {}
        : { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
    return Response.json({ apiVersion, kind, response: { uid: request.uid, ...response, ...encoded } });
  };
}
