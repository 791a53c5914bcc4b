/**
 * Policies and CEL rules without a server: type checks, cost estimates and evaluation by the code of the embedded server.
 *
 * @module
 */
export type { AdmissionOperation } from '../admission/admission.js';
export type { UserInfo } from '../authentication/user-info.js';
export type { AccessQuestion, AccessUser } from '../cel/library/authorization.js';
export { checkDefinition, type RuleProblem } from './check-definition.js';
export { checkPolicy, type ExpressionReport } from './check-policy.js';
export {
  evaluatePolicies,
  type PolicyOutcome,
  type PolicyRequest,
  type PolicyViolation,
} from './evaluate-policies.js';
