import {
  applyServerSide,
  conflictStatus,
  fieldElement,
  fromScaleFields,
  type JsonObject,
  type ManagedFieldsEntry,
  type Status,
  toScaleFields,
  trackUpdate,
} from 'riata/object';
import type { Schemas } from './raw-server.js';

const apiVersion = 'autoscaling/v1';

/** What the engine makes of a write to the scale subresource of a Deployment. */
export function playScale(write: {
  readonly manager: string;
  readonly force: boolean;
  /** What is applied; undefined for an update. */
  readonly config?: JsonObject;
  readonly schemas: Schemas;
  readonly live: JsonObject;
  readonly after: JsonObject;
  readonly now: number;
}): { readonly managedFields?: readonly ManagedFieldsEntry[] | undefined; readonly conflicts?: Status } {
  const { manager, force, config, schemas, live, after, now } = write;
  const replicasPath = ['spec', 'replicas'].map(fieldElement);
  const mapping = { apiVersion: 'apps/v1', replicasPaths: new Map([['apps/v1', replicasPath]]) };
  const entries = (live.metadata as { managedFields?: ManagedFieldsEntry[] }).managedFields;
  const request = {
    apiVersion,
    kind: 'Scale',
    type: schemas.typeOf('Scale'),
    empty: schemas.emptyOf(apiVersion, 'Scale'),
    live: scaleOf(live, toScaleFields(entries, mapping)),
    manager,
    subresource: 'scale',
    now,
  };
  if (config === undefined) {
    const scaleEntries = trackUpdate({ ...request, object: scaleOf(after, undefined) });
    return { managedFields: fromScaleFields(entries, scaleEntries, mapping) };
  }
  const result = applyServerSide({ ...request, config, force });
  if (result.conflicts) return { conflicts: conflictStatus(result.conflicts) };
  return { managedFields: fromScaleFields(entries, result.managedFields, mapping) };
}

function scaleOf(deployment: JsonObject, managedFields: readonly ManagedFieldsEntry[] | undefined): JsonObject {
  const { name, namespace, uid, creationTimestamp } = deployment.metadata as JsonObject;
  const { replicas } = deployment.spec as JsonObject;
  const metadata = { name, namespace, uid, creationTimestamp, managedFields };
  return { apiVersion, kind: 'Scale', metadata, spec: { replicas }, status: { replicas: 0 } } as unknown as JsonObject;
}
