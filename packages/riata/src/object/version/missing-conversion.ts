import type { CrdConversion } from '../schema/crd-manifest.js';

/** A host that never exists (RFC 2606), which says in the server's own error what is missing. */
const host = 'run-conversion-webhook.invalid';

/**
 * The conversion of a definition whose webhook does not run yet. Without any, a server would store objects of one
 * version under the name of another, and the two could not be distinguished later; with this, it refuses until the webhook's
 * own address takes its place.
 */
export function missingConversion(crd: string): CrdConversion {
  return {
    strategy: 'Webhook',
    webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: `https://${host}/${crd}` } },
  };
}

/** Whether a conversion is that of {@link missingConversion}. */
export function isMissingConversion(conversion: CrdConversion | undefined): boolean {
  if (conversion?.strategy !== 'Webhook') return false;
  return conversion.webhook.clientConfig.url?.startsWith(`https://${host}/`) === true;
}
