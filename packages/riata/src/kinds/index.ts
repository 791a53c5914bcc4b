export { builtinScheme } from './builtin-scheme.js';
export * from './generated/preferred.js';
