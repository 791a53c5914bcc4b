import type { AdmissionPlugin } from './admission.js';
import type { AdmissionParts } from './admission-parts.js';
import { builtinPlugins } from './builtin/builtin-plugins.js';
import { MutatingAdmissionPolicyPlugin } from './policy/mutating-admission-policy-plugin.js';
import { ValidatingAdmissionPolicyPlugin } from './policy/validating-admission-policy-plugin.js';
import { MutatingAdmissionWebhook } from './webhook/mutating-admission-webhook.js';
import { ValidatingAdmissionWebhook } from './webhook/validating-admission-webhook.js';

/** Creates the plugins by upstream's names; `enabled-plugins.ts` has their order. */
export const admissionPlugins: Readonly<Record<string, (parts: AdmissionParts) => AdmissionPlugin>> = {
  ...builtinPlugins,
  MutatingAdmissionPolicy: (parts) => new MutatingAdmissionPolicyPlugin(parts),
  ValidatingAdmissionPolicy: (parts) => new ValidatingAdmissionPolicyPlugin(parts),
  MutatingAdmissionWebhook: (parts) => new MutatingAdmissionWebhook(parts),
  ValidatingAdmissionWebhook: (parts) => new ValidatingAdmissionWebhook(parts),
};
