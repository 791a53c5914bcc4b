/**
 * Webhooks: admission, conversion, authentication and authorization, with their own server and certificates
 * (controller-runtime's `pkg/webhook`).
 *
 * @module
 */
export type { WebhookDefinition, WebhookTarget } from './webhook-definition.js';
export type { WebhookAnswer, WebhookParts, WebhookRecord, WebhookRequest, WebhookRoute } from './webhook-route.js';
