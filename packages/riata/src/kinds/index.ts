export type { ClusterKind, NamespacedKind } from './built-in-kind.js';
export { builtinScheme } from './builtin-scheme.js';
export * from './generated/preferred.js';
