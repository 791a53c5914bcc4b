/**
 * What `riata.config.ts` and programs use: the description of an operator, and the objects that are derived from it.
 *
 * @module
 */

export {
  type ChartConfig,
  type ChartContext,
  type ChartOptions,
  chart,
  type ValuesSchema,
} from './chart/chart.js';
export type { Release } from './chart/evaluate-objects.js';
export { onlyIf } from './chart/placeholder.js';
export {
  type CrdKind,
  type OperatorConfig,
  type OperatorDefinition,
  type OperatorModule,
  type OperatorOptions,
  operator,
} from './config/operator.js';
export { type Operator, type ProjectPackage, resolveOperator } from './config/resolve-operator.js';
export { deployment } from './manifests/deployment.js';
export type {
  DeploymentOptions,
  MonitoringOptions,
  NetworkPolicyOptions,
  PodOptions,
} from './manifests/deployment-options.js';
export { operatorObjects } from './manifests/operator-objects.js';
export type { PathRule, TestedRights } from './manifests/used-rights.js';
