import { equal, type Json, type JsonObject } from 'riata/object';
import { aggregatedRules } from '../authorization/aggregated-rules.js';
import { isGiven, metaOf, textOf } from '../resource/metadata.js';
import type { ObjectStore } from '../resource/object-store.js';
import { patchObject } from '../resource/patch-object.js';
import type { Resource } from '../resource/resource.js';
import type { WriteContext } from '../resource/write-context.js';
import { atOnce } from '../steps.js';
import type { Storage } from '../storage/storage.js';
import type { WorkLoop } from './work-loop.js';

/** Dependencies of {@link ClusterRoleAggregation}. */
export interface ClusterRoleAggregationParts {
  readonly storage: Storage;
  readonly store: ObjectStore;
  readonly loop: WorkLoop;
  readonly clusterRoles: Resource;
  readonly context: () => WriteContext;
}

/** Keeps the rules of aggregated ClusterRoles up to date, as kube-controller-manager does. */
export class ClusterRoleAggregation {
  readonly #parts: ClusterRoleAggregationParts;

  constructor(parts: ClusterRoleAggregationParts) {
    this.#parts = parts;
  }

  /** Observes every write of the storage. */
  observe(table: string): void {
    const { loop, clusterRoles } = this.#parts;
    if (table === clusterRoles.table) loop.add('aggregate cluster roles', () => this.#sync());
  }

  #sync(): void {
    const { storage, clusterRoles } = this.#parts;
    const all = storage.list(clusterRoles.table).items.map(({ object }) => object as unknown as JsonObject);
    for (const role of all) {
      if (!isGiven(role.aggregationRule)) continue;
      const rules = aggregatedRules(role, all);
      // The write is observed in turn, so roles that aggregate this one follow.
      if (!equal(rules, role.rules ?? [])) this.#write(textOf(metaOf(role).name), rules);
    }
  }

  #write(name: string, rules: readonly JsonObject[]): void {
    const { store, clusterRoles } = this.#parts;
    const { apiVersion, kind } = clusterRoles;
    const intent: Json = { apiVersion, kind, metadata: { name }, ...(rules.length > 0 && { rules }) };
    const request = {
      ...{ kind: 'apply' as const, read: () => intent, text: () => undefined },
      ...{ yamlComplaint: undefined, subresource: '', force: true },
    };
    const context = { ...this.#parts.context(), fieldManager: 'clusterrole-aggregation-controller' };
    atOnce(patchObject(store, clusterRoles, '', name, request, context));
  }
}
