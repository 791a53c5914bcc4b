import type { WebhookClientConfig } from '../kinds/generated/types/admissionregistration-v1.js';
import type { WebhookAnswer, WebhookRequest } from './webhook-route.js';

/** Answers the requests of a webhook server, whatever the path. Never rejects. */
export type ServeWebhook = (request: WebhookRequest) => Promise<WebhookAnswer>;

/** A {@link WebhookListener} that listens. */
export interface ListeningWebhooks {
  /** How an API server reaches a path. Without a `caBundle`, if no certificate is needed. */
  clientConfig(path: string): WebhookClientConfig;
}

/** Brings requests to a webhook server in another way than its own HTTPS: within the process, in tests. */
export interface WebhookListener {
  /** Resolves once requests may come. They stop with the signal; those in flight are answered. */
  listen(serve: ServeWebhook, options: { readonly signal: AbortSignal }): Promise<ListeningWebhooks>;
}
