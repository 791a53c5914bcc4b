/**
 * All that only writing needs: what makes up the kinds, and definitions of others. It is more code than all the rest, so
 * it is loaded with the first request that needs it (load-write-parts.ts).
 */
export { schemaOfBuiltIn } from './built-in-resource-schema.js';
export { builtInRules } from './built-in-rules.js';
export { acceptedStatus, cleanupFinalizer, isEstablished } from './crd-status.js';
export { customResources } from './custom-resource.js';
export { versionConversions } from './version-conversions.js';
