/**
 * The rules of built-in kinds, and CustomResourceDefinitions. Reads don't need this code, so it is loaded with the first
 * request that does (load-kind-parts.ts).
 */

export { builtInRules } from './built-in/built-in-rules.js';
export { schemaOfBuiltIn } from './built-in/schema-of-built-in.js';
export { acceptedStatus, cleanupFinalizer, isEstablished } from './custom/crd-status.js';
export { customResources } from './custom/custom-resources.js';
export { versionConversions } from './custom/version-conversions.js';
