/** Policies, and the functions for expressions in them. */
export { type CelCompileError, isCelCompileError } from '../../object/cel/cel-compile-error.js';
export {
  and,
  type CelPatch,
  type CelPointer,
  cel,
  cidr,
  concat,
  duration,
  ip,
  jsonPatch,
  listOf,
  not,
  or,
  quantity,
  semver,
  timestamp,
  url,
  when,
} from '../../object/cel/cel-functions.js';
export {
  type CheckedPolicy,
  checkPolicies,
  type PolicyCheckOptions,
  type PolicyPreview,
  type PolicyViolation,
  policyManifests,
} from './check-policy.js';
export { Policy, type PolicyDefinition, policy, type RequireOptions } from './policy.js';
export type {
  PolicyContext,
  PolicyFields,
  PolicyMatchContext,
  PolicyMessageContext,
  PolicyOperation,
  PolicyTypes,
} from './policy-context.js';
export type { PolicyAccessQuestion, PolicyExpressionReport } from './policy-engine.js';
export type { PolicyObject } from './policy-objects.js';
export type {
  PolicyAction,
  PolicyBindingOptions,
  PolicyMatch,
  PolicyOptions,
  PolicyParamRef,
} from './policy-options.js';
