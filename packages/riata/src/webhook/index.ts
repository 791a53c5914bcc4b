/**
 * Webhooks: admission, conversion, authentication and authorization, with their own server and certificates
 * (controller-runtime's `pkg/webhook`).
 *
 * @module
 */

export { addWebhook } from './server/add-webhook.js';
export { type StandaloneWebhookOptions, WebhookServer } from './server/webhook-server.js';
export type { WebhookDefinition, WebhookTarget } from './webhook-definition.js';
export type { ListeningWebhooks, ServeWebhook, WebhookListener } from './webhook-listener.js';
export type { WebhookAnswer, WebhookParts, WebhookRecord, WebhookRequest, WebhookRoute } from './webhook-route.js';
