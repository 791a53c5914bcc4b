/**
 * Every built-in kind in its preferred version. Others are in `riata/kinds/<group>/<version>`, the types of their parts too.
 *
 * @module
 */
export type { ClusterKind, NamespacedKind } from './built-in-kind.js';
export { builtinPatchSchema } from './builtin-patch-schema.js';
export { builtinScheme } from './builtin-scheme.js';
export * from './generated/preferred.js';
