import { redactAll } from '../../../rest/chain/own-secrets.js';
import type { WebhookRecord } from '../../../webhook/webhook-route.js';

/** A webhook call without secrets: the words of a denial are those of a handler, which may quote the object. */
export function maskedCall(call: WebhookRecord, mask: (text: string) => string): WebhookRecord {
  const details = redactAll(call.details, mask);
  return details === call.details ? call : { ...call, details };
}
