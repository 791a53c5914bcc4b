import type { ValidatingWebhook } from '../../kinds/generated/types/admissionregistration-v1.js';
import { isJsonObject } from '../../object/json.js';
import type { WebhookAnswer, WebhookRequest, WebhookRoute } from '../webhook-route.js';

/** The entry of a configuration that lets a program ask an API server whether it reaches the webhooks. */
export const probeName = 'probe.webhooks.riata.dev';
const probePath = '/riata-probe';
/** Of the objects that the probe is asked about; its value is the name of the webhooks. */
export const probeLabel = 'riata.dev/webhook-probe';
/** The beginning of every denial by the probe: proof that a webhook server was reached. */
const reached = 'riata-probe: reached ';

/**
 * Guards Leases with the probe's label in the namespace of the program, and denies each: that nothing is stored, and the
 * denial says who was reached. Other objects are never sent.
 */
export function probeEntry(site: {
  readonly name: string;
  readonly namespace: string;
}): Omit<ValidatingWebhook, 'clientConfig'> & { readonly path: string } {
  return {
    path: probePath,
    name: probeName,
    rules: [
      {
        apiGroups: ['coordination.k8s.io'],
        apiVersions: ['v1'],
        operations: ['CREATE'],
        resources: ['leases'],
        scope: 'Namespaced',
      },
    ],
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': site.namespace } },
    objectSelector: { matchLabels: { [probeLabel]: site.name } },
    failurePolicy: 'Fail',
    matchPolicy: 'Exact',
    sideEffects: 'None',
    timeoutSeconds: 5,
    admissionReviewVersions: ['v1'],
  };
}

/** Denies every review, and says by which server. */
export function probeRoute(server: string): WebhookRoute {
  const answer = async ({ body }: WebhookRequest): Promise<WebhookAnswer> => {
    const uid = uidOf(body);
    if (uid === undefined) return { status: 400, body: '{"error":"expected an AdmissionReview"}\n' };
    const status = { code: 403, reason: 'Forbidden', message: `${reached}${server}` };
    const response = { uid, allowed: false, status };
    return {
      status: 200,
      body: JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }),
    };
  };
  return { path: probePath, answer };
}

/** The server that a probe's denial names; undefined for any other error. */
export function reachedServer(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const at = error.message.indexOf(reached);
  return at < 0 ? undefined : error.message.slice(at + reached.length).split(/\s/, 1)[0];
}

function uidOf(body: Uint8Array): string | undefined {
  try {
    const review: unknown = JSON.parse(new TextDecoder().decode(body));
    const request = isJsonObject(review) ? review.request : undefined;
    return isJsonObject(request) && typeof request.uid === 'string' ? request.uid : undefined;
  } catch {
    return undefined;
  }
}
