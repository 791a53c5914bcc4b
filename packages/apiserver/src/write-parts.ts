/** Admission control and quotas: code that only writes need, loaded with the first one (load-write-parts.ts). */
export { admissionPlugins } from './admission/admission-plugins.js';
export { checkPolicyTypes } from './admission/policy/check-policy-types.js';
export { paramAccess } from './admission/policy/param-access.js';
export { QuotaController } from './controllers/quota-controller.js';
