import type { JsonObject } from 'riata/object';
import type { Logger, Random, Scheduler } from 'riata/runtime';
import type { Authorizer } from '../authorization/authorizer.js';
import type { ResourceTable } from '../resource/resource-table.js';
import type { Storage } from '../storage/storage.js';
import type { WebhookCaller } from '../webhook-client/webhook-caller.js';
import type { AdmissionPlugin } from './admission.js';
import { builtinPlugins } from './builtin/builtin-plugins.js';
import { MutatingAdmissionPolicyPlugin } from './policy/mutating-admission-policy.js';
import { ValidatingAdmissionPolicyPlugin } from './policy/validating-admission-policy.js';
import { MutatingAdmissionWebhook } from './webhook/mutating-admission-webhook.js';
import { ValidatingAdmissionWebhook } from './webhook/validating-admission-webhook.js';

/** What admission plugins work with. */
export interface AdmissionParts {
  readonly storage: Storage;
  /** Which resources are served, custom ones among them. */
  readonly served: ResourceTable;
  readonly clock: Scheduler;
  readonly random: Random;
  readonly log: Logger;
  readonly authorizer: Authorizer;
  /** Calls webhooks. */
  readonly webhooks: WebhookCaller;
  /** Brings the status of a namespace's quotas up to date; undefined where the server doesn't keep it. */
  readonly countQuotas?: ((namespace: string) => void) | undefined;
  /** Gives a new namespace its default ServiceAccount now; undefined where the server doesn't do so by itself. */
  readonly prepareNamespace?: ((namespace: string) => void) | undefined;
  /** Writes the status of an object of the core group, in the name of the server. */
  updateStatus(plural: string, namespace: string, name: string, status: (object: JsonObject) => JsonObject): void;
}

/** Makes the plugins of this server, each by upstream's name; `plugin-names.ts` has their order. */
export const admissionPlugins: Readonly<Record<string, (parts: AdmissionParts) => AdmissionPlugin>> = {
  ...builtinPlugins,
  MutatingAdmissionPolicy: (parts) => new MutatingAdmissionPolicyPlugin(parts),
  ValidatingAdmissionPolicy: (parts) => new ValidatingAdmissionPolicyPlugin(parts),
  MutatingAdmissionWebhook: (parts) => new MutatingAdmissionWebhook(parts),
  ValidatingAdmissionWebhook: (parts) => new ValidatingAdmissionWebhook(parts),
};
