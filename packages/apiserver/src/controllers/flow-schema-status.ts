import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import { textOf, valueAt } from '../resource/metadata.js';
import type { ObjectStore } from '../resource/object-store.js';
import { patchObject } from '../resource/patch-object.js';
import type { Resource } from '../resource/resource.js';
import type { WriteContext } from '../resource/write-context.js';
import { atOnce } from '../steps.js';
import type { Storage } from '../storage/storage.js';
import type { WorkLoop } from './work-loop.js';

/** What {@link FlowSchemaStatus} works with. */
export interface FlowSchemaStatusParts {
  readonly storage: Storage;
  readonly store: ObjectStore;
  readonly loop: WorkLoop;
  readonly schemas: Resource;
  readonly levels: Resource;
  readonly context: () => WriteContext;
}

const fieldManager = 'api-priority-and-fairness-config-consumer-v1';

/** Keeps the condition `Dangling` of FlowSchemas: whether their priority level exists. */
export class FlowSchemaStatus {
  readonly #parts: FlowSchemaStatusParts;

  constructor(parts: FlowSchemaStatusParts) {
    this.#parts = parts;
  }

  /** Observes every write of the storage. */
  observe(table: string): void {
    const { loop, schemas, levels } = this.#parts;
    if (table !== schemas.table && table !== levels.table) return;
    loop.add('report dangling FlowSchemas', () => this.#sync());
  }

  #sync(): void {
    const { storage, schemas, levels } = this.#parts;
    for (const { object } of storage.list(schemas.table).items) {
      const schema = object as unknown as JsonObject;
      const level = textOf(valueAt(schema, 'spec.priorityLevelConfiguration.name'));
      const desired = conditionOf(level, storage.get(levels.table, level) !== undefined);
      if (!isReported(schema, desired)) this.#write(textOf(valueAt(schema, 'metadata.name')), desired);
    }
  }

  #write(name: string, condition: JsonObject): void {
    const { store, schemas } = this.#parts;
    const context = { ...this.#parts.context(), fieldManager };
    const { apiVersion, kind } = schemas;
    const status = { conditions: [{ ...condition, lastTransitionTime: context.now }] };
    const intent: Json = { apiVersion, kind, metadata: { name }, status };
    const request = {
      ...{ kind: 'apply' as const, read: () => intent, text: () => undefined },
      ...{ yamlComplaint: undefined, subresource: 'status', force: true },
    };
    atOnce(patchObject(store, schemas, '', name, request, context));
  }
}

function conditionOf(level: string, exists: boolean): JsonObject {
  const named = `This FlowSchema references the PriorityLevelConfiguration object named "${level}"`;
  return exists
    ? { type: 'Dangling', status: 'False', reason: 'Found', message: `${named} and it exists` }
    : { type: 'Dangling', status: 'True', reason: 'NotFound', message: `${named} but there is no such object` };
}

function isReported(schema: JsonObject, desired: JsonObject): boolean {
  const conditions = valueAt(schema, 'status.conditions');
  if (!Array.isArray(conditions)) return false;
  const found = conditions.find((one) => isJsonObject(one) && one.type === desired.type);
  return isJsonObject(found) && ['status', 'reason', 'message'].every((field) => found[field] === desired[field]);
}
