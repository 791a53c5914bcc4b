/**
 * What `riata.config.ts` and programs use: the description of an operator, and the objects that are derived from it.
 *
 * @module
 */

export {
  type CrdKind,
  type OperatorConfig,
  type OperatorDefinition,
  type OperatorModule,
  type OperatorOptions,
  operator,
} from './config/operator.js';
export { type Operator, type ProjectPackage, resolveOperator } from './config/resolve-operator.js';
