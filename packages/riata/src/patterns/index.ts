/**
 * Patterns for controllers: typed controllers, status and generating handlers, related resources, desired sets (wrangler).
 *
 * @module
 */

export {
  type CertificateData,
  type CertificateTimes,
  type Renewal,
  renewCertificate,
  trustedAuthorities,
} from '../runtime/crypto/renew-certificate.js';
export type { RbacNeed, RbacNeeds } from '../shared/rbac-need.js';
export { type NeedACertOptions, needACertAnnotations, registerNeedACert } from './certificates/register-need-a-cert.js';
export {
  type ClearedFinalizers,
  type ClearFinalizersOptions,
  clearFinalizers,
} from './clear-finalizers.js';
export { Controllers } from './controllers.js';
export { type CrdLoss, type CrdShape, crdLosses } from './crds/crd-losses.js';
export {
  CrdDataLossError,
  type CrdSource,
  type InstallCrdsOptions,
  type InstalledCrd,
  installCrds,
  isCrdDataLoss,
} from './crds/install-crds.js';
export { type WaitServedOptions, waitServed } from './crds/wait-served.js';
export { Apply, type DesiredObjects } from './desired-set/apply.js';
export type {
  ApplyOptions,
  ApplySetOptions,
  DiffPatch,
  ForKind,
  SetInjector,
  SetPatcher,
  SetReconciler,
  SetVerdict,
  SetWait,
  SetWriteContext,
} from './desired-set/apply-options.js';
export {
  type ApplyFailure,
  ApplySetError,
  type ApplySetResult,
  isApplySetError,
  type SetAction,
  type SetMember,
} from './desired-set/apply-result.js';
export { type DiffLine, diffObjects, formatDiff } from './desired-set/format-diff.js';
export { ObjectSet, type ObjectSetKey } from './desired-set/object-set.js';
export type { PurgeOrphansOptions } from './desired-set/purge-orphans.js';
export type { SetApplier, SetApplyOptions } from './desired-set/set-applier.js';
export {
  type NamedOwner,
  namedOwner,
  type SetIdentity,
  type SetNames,
  setIdentity,
  setMarks,
} from './desired-set/set-identity.js';
export { type PlannedChange, SetPlan } from './desired-set/set-plan.js';
export {
  type Generated,
  type GeneratingHandler,
  type GeneratingHandlerOptions,
  registerGeneratingHandler,
} from './generating/generating-handler.js';
export type { PlacingOptions } from './generating/place-objects.js';
export {
  type CollectRbacOptions,
  collectRbac,
  type PolicyRule,
  type RbacManifestsOptions,
  type RbacSource,
  rbacManifests,
} from './manifests/collect-rbac.js';
export {
  type CrdsToYamlOptions,
  crdsFromCluster,
  crdsFromDirectory,
  crdsFromYaml,
  crdsToYaml,
} from './manifests/read-crds.js';
export { kindFromCrd, type TypesFromCrdsOptions, typesFromCrds } from './manifests/types-from-crds.js';
export { cleanForExport, exportYaml, objectsFromYaml, objectsToYaml } from './manifests/yaml.js';
export { type Enqueuer, type Resolver, relatedResource, type Watched } from './related-resource.js';
export { type ObjectHandler, removeHandler } from './remove-handler.js';
export { hexOf, limitName, safeConcatName } from './safe-concat-name.js';
export {
  type ComputeStatusOptions,
  computeStatus,
} from './status/compute-status.js';
export { Cond, type CondUpdate } from './status/cond.js';
export { ConditionError } from './status/condition-error.js';
export {
  Reconciling,
  Stalled,
  setStatusActive,
  setStatusError,
  setStatusTransitioning,
} from './status/kstatus-conditions.js';
export {
  registerStatusHandler,
  type StatusHandler,
  type StatusHandlerOptions,
  type StatusOf,
} from './status/status-handler.js';
export type { ObjectState, ObjectStatusResult } from './status/status-rules.js';
export {
  formatSummary,
  isReadySummary,
  type NormalizedCondition,
  normalizeConditions,
  type SummarizeOptions,
  type Summary,
  summarize,
} from './summary/summary.js';
export type { ErrorConditions, Relationship } from './summary/summary-draft.js';
export { Trigger } from './trigger.js';
export { TypedCache } from './typed-cache.js';
export {
  type OnRemoveOptions,
  TypedController,
  type TypedControllerOptions,
  type Updater,
} from './typed-controller.js';
