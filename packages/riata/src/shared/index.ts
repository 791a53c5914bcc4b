/**
 * Shared clients, caches and controllers, with many handlers on one controller for each kind (lasso).
 *
 * @module
 */
export { boundTo } from './bound-to.js';
export { DynamicController, type DynamicControllerOptions, type KindMatcher } from './dynamic-controller.js';
export type { DynamicHandler } from './dynamic-watch.js';
export type { RetryMode } from './handler-chain.js';
export { HandlerTransaction } from './handler-transaction.js';
export { type FailedHandler, HandlersError } from './handlers-error.js';
export { type HandlerErrorOptions, HandlerFailure, IgnoreError, isIgnoreError } from './ignore-error.js';
export { KeyedController, type KeyedControllerParts, type StartOptions } from './keyed-controller.js';
export type { KeyedOptions } from './keyed-options.js';
export { KindClient } from './kind-client.js';
export type { RbacNeed, RbacNeeds } from './rbac-need.js';
export { SharedCache } from './shared-cache.js';
export { SharedCacheFactory, type SharedCacheFactoryOptions } from './shared-cache-factory.js';
export { SharedClientFactory } from './shared-client-factory.js';
export { SharedController } from './shared-controller.js';
export {
  SharedControllerFactory,
  type SharedControllerFactoryOptions,
  type SharedKind,
  type SharedKindOptions,
  sharedKind,
} from './shared-controller-factory.js';
export type {
  HandlerContext,
  HandlerRegistration,
  RegisterOptions,
  SharedControllerHandler,
} from './shared-controller-handler.js';
export { type MakeRateLimiter, sharedControllerRateLimiter } from './shared-controller-rate-limiter.js';
