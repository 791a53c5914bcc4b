import type { JsonObject } from 'riata/object';
import type { Logger, Random, Scheduler } from 'riata/runtime';
import type { Authorizer } from '../authorization/authorizer.js';
import type { ResourceTable } from '../resource/resource-table.js';
import type { Storage } from '../storage/storage.js';
import type { WebhookCaller } from '../webhook-client/webhook-caller.js';

/** Dependencies of admission plugins. */
export interface AdmissionParts {
  readonly storage: Storage;
  /** The served resources, including custom ones. */
  readonly served: ResourceTable;
  readonly clock: Scheduler;
  readonly random: Random;
  readonly log: Logger;
  readonly authorizer: Authorizer;
  /** Calls webhooks. */
  readonly webhooks: WebhookCaller;
  /** Updates the status of a namespace's quotas; undefined if the server doesn't manage it. */
  readonly countQuotas?: ((namespace: string) => void) | undefined;
  /** Creates the default ServiceAccount of a new namespace now; undefined if the server doesn't manage these. */
  readonly prepareNamespace?: ((namespace: string) => void) | undefined;
  /** Writes the status of an object of the core group, as the server. */
  updateStatus(plural: string, namespace: string, name: string, status: (object: JsonObject) => JsonObject): void;
}
