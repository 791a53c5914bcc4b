import type { Json, JsonObject } from 'riata/object';
import { loadWriteParts, writeParts } from '../load-write-parts.js';
import { metaOf, numberOf, recordOf } from '../resource/metadata.js';
import type { ObjectStore } from '../resource/object-store.js';
import { patchObject } from '../resource/patch-object.js';
import type { Resource } from '../resource/resource.js';
import type { ResourceTable } from '../resource/resource-table.js';
import type { WriteContext } from '../resource/write-context.js';
import { atOnce } from '../steps.js';
import type { Storage, StorageEvent } from '../storage/storage.js';
import type { WorkLoop } from './work-loop.js';

/** Dependencies of {@link PolicyTypeChecking}. */
export interface PolicyTypeCheckingParts {
  readonly storage: Storage;
  readonly store: ObjectStore;
  readonly served: ResourceTable;
  readonly loop: WorkLoop;
  readonly policies: Resource;
  readonly context: () => WriteContext;
}

/** Reports expressions that don't fit the matched types in the status of ValidatingAdmissionPolicies. */
export class PolicyTypeChecking {
  readonly #parts: PolicyTypeCheckingParts;

  constructor(parts: PolicyTypeCheckingParts) {
    this.#parts = parts;
  }

  /** Observes every write of the storage. */
  observe(table: string, { key, after }: StorageEvent): void {
    if (table !== this.#parts.policies.table || after === undefined) return;
    if (!isChecked(after.object as unknown as JsonObject)) this.#add(key);
  }

  #add(name: string): void {
    this.#parts.loop.add(`check the types of policy ${name}`, () => {
      // They are missing if the policy came from an existing storage.
      const loading = loadWriteParts();
      if (loading === undefined) this.#check(name);
      else void loading.then(() => this.#add(name));
    });
  }

  #check(name: string): void {
    const { storage, store, served, policies, context } = this.#parts;
    const policy = storage.get(policies.table, name)?.object as unknown as JsonObject | undefined;
    if (policy === undefined || isChecked(policy)) return;
    const now = context();
    const expressionWarnings = writeParts().checkPolicyTypes(policy, served, now.nowMs % 1_000_000_000);
    const { apiVersion, kind } = policies;
    const typeChecking = expressionWarnings.length === 0 ? {} : { expressionWarnings: expressionWarnings as never };
    const status: Json = { observedGeneration: numberOf(metaOf(policy).generation), typeChecking };
    const intent: Json = { apiVersion, kind, metadata: { name }, status };
    const request = {
      ...{ kind: 'apply' as const, read: () => intent, text: () => undefined },
      ...{ yamlComplaint: undefined, subresource: 'status', force: true },
    };
    const fieldManager = 'validatingadmissionpolicy-status';
    atOnce(patchObject(store, policies, '', name, request, { ...now, fieldManager }));
  }
}

function isChecked(policy: JsonObject): boolean {
  return numberOf(metaOf(policy).generation) <= numberOf(recordOf(policy.status).observedGeneration);
}
