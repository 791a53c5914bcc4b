import type { MutatingWebhook, ValidatingWebhook } from '../kinds/generated/types/admissionregistration-v1.js';
import type { Addable, Added, Manager } from '../manager/manager.js';
import type { KindRef } from '../object/kind.js';
import type { WebhookParts, WebhookRoute } from './webhook-route.js';

/** What makes the API server call a route: an entry of a webhook configuration, or the conversion of a CRD. */
export type WebhookTarget =
  | { readonly type: 'mutating'; readonly path: string; readonly webhook: Omit<MutatingWebhook, 'clientConfig'> }
  | { readonly type: 'validating'; readonly path: string; readonly webhook: Omit<ValidatingWebhook, 'clientConfig'> }
  | { readonly type: 'conversion'; readonly path: string; readonly kind: KindRef };

/**
 * A webhook as a value: what calls it and how it answers, without a connection. Made by `admit` and others; run by
 * `manager.add` or `run`.
 */
export interface WebhookDefinition extends Addable {
  /** In logs, metrics and configurations; another one for each webhook of a manager. */
  readonly name: string;
  /** Kinds that its handlers read from the cache. */
  readonly readKinds: readonly KindRef[];
  /** How it is registered with the API server. Empty for authentication and authorization, which flags configure. */
  readonly targets: readonly WebhookTarget[];
  /** Its routes on one server. */
  bind(parts: WebhookParts): readonly WebhookRoute[];
  addTo(manager: Manager): AddedDefinition;
}

/** A webhook that was added to a manager. */
export interface AddedDefinition extends Added {
  /**
   * Serves another definition of the same name instead, from one request to the next; kinds that both read are not listed
   * again. Rejects, with the old one served, if the new one cannot be.
   */
  replace(next: WebhookDefinition): Promise<void>;
}
