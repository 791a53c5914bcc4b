/**
 * The code that only writes need: rules of kinds and CustomResourceDefinitions. It is more code than all the rest, so
 * it is loaded with the first request that needs it (load-write-parts.ts).
 */
export { admissionPlugins } from '../admission/plugins.js';
export { checkPolicyTypes } from '../admission/policy/check-policy-types.js';
export { paramAccess } from '../admission/policy/param-access.js';
export { QuotaController } from '../controllers/quota-controller.js';
export { schemaOfBuiltIn } from './built-in/built-in-resource-schema.js';
export { builtInRules } from './built-in/built-in-rules.js';
export { acceptedStatus, cleanupFinalizer, isEstablished } from './custom/crd-status.js';
export { customResources } from './custom/custom-resource.js';
export { versionConversions } from './custom/version-conversions.js';
