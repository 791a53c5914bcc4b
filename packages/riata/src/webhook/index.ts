/**
 * Webhooks: admission, conversion, authentication and authorization, with their own server and certificates
 * (controller-runtime's `pkg/webhook`).
 *
 * @module
 */

export type {
  AdmissionCall,
  AdmissionCallOptions,
  AdmissionContext,
  AdmissionOperation,
  AdmissionUser,
  ConnectContext,
  CreateContext,
  DeleteContext,
  Deny,
  UpdateContext,
} from './admission/admission-context.js';
export type {
  AdmissionCallRules,
  AdmitOptions,
  HandlerOptions,
  RawHandlerOptions,
} from './admission/admission-options.js';
export type {
  AdmissionRequest,
  AdmissionResponse,
  ReviewUserInfo,
  ReviewVersion,
} from './admission/admission-review.js';
export type {
  AdmissionRules,
  AdmissionStart,
  MutatingOperation,
  Mutator,
  Validator,
} from './admission/admission-rules.js';
export { type Admit, type AnyObject, admit, type ResourceMatch } from './admission/admit.js';
export type {
  PodAttachOptions,
  PodExecOptions,
  PodPortForwardOptions,
  ProxyOptions,
  SubresourceObject,
} from './admission/connect-options.js';
export type { DenialOptions, DenialReason } from './admission/denials.js';
export type { FieldPath, PathsOf } from './admission/field-path.js';
export {
  multiMutatingHandler,
  multiValidatingHandler,
  type RawContext,
  type RawHandler,
} from './admission/raw-handler.js';
export {
  allowed,
  denied,
  errored,
  patched,
  patchResponse,
  validationResponse,
  withWarnings,
} from './admission/responses.js';
export { type ConversionOptions, type ConvertibleKind, conversion } from './conversion/conversion.js';
export { type MigrationDefinition, type MigrationOptions, migration } from './conversion/migration.js';
export type { Pace } from './conversion/pace.js';
export { type WebhookManifestsOptions, webhookManifests } from './install/webhook-manifests.js';
export { type WebhookRight, type WebhookRightsOptions, webhookRights } from './install/webhook-rights.js';
export * from './policy/index.js';
export {
  type Authenticated,
  type AuthenticatedUser,
  type AuthenticatesOptions,
  authenticates,
  type TokenContext,
} from './review/authenticates.js';
export { type AccessContext, type AccessDecision, authorizes } from './review/authorizes.js';
export type { ReviewContext, ReviewOptions } from './review/review-webhook.js';
export { WebhookRouteBuilder, WebhookRouter } from './router/webhook-router.js';
export { type AddedWebhook, addWebhook } from './server/add-webhook.js';
export { type StandaloneWebhookOptions, WebhookServer } from './server/webhook-server.js';
export type { AddedDefinition, WebhookDefinition, WebhookTarget } from './webhook-definition.js';
export type { ListeningWebhooks, ServeWebhook, WebhookListener } from './webhook-listener.js';
export type { WebhookAnswer, WebhookParts, WebhookRecord, WebhookRequest, WebhookRoute } from './webhook-route.js';
