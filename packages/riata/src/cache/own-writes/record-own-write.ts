import type { ConnectedClient } from '../../client/create-client.js';
import type { Write } from '../../client/operation/write-hook.js';
import { isJsonObject } from '../../object/json.js';
import { formatKey } from '../../object/key.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import type { OwnWrites } from './own-writes.js';

/** A cache that records own writes. */
export interface OwnWriteTarget<T extends KubeObject> {
  readonly kind: KindRef;
  /** Writes to other namespaces don't concern it. @default all do */
  readonly namespace?: string;
  readonly writes: OwnWrites<T>;
  /**
   * The cache's own copy of what the server has stored, as the watch will show it; without `object`, it will not show it.
   * Undefined: only the watch can show it.
   */
  admit(object: KubeObject): { readonly object: T | undefined } | undefined;
}

type Operation = Write['operation'];

/** Lays the writes of a client over what a cache has been shown, from now on until it is disposed. */
export function recordOwnWrites<T extends KubeObject>(
  client: Pick<ConnectedClient, 'onWrite'>,
  target: OwnWriteTarget<T>,
): Disposable {
  return client.onWrite((write) => recordOwnWrite(write, target));
}

/** Lays a write over what a cache has been shown; does nothing if it is of another kind or namespace. */
export function recordOwnWrite<T extends KubeObject>(write: Write, target: OwnWriteTarget<T>): void {
  const { operation } = write;
  if (operation.kind.group !== target.kind.group || operation.kind.plural !== target.kind.plural) return;
  if (operation.namespace && target.namespace && operation.namespace !== target.namespace) return;
  if (operation.verb === 'deletecollection') target.writes.markAllUncertain();
  else if ('error' in write) recordLost(operation, target);
  else if (operation.verb === 'delete' && operation.subresource === undefined) {
    recordDeletion(operation, write.answer, target);
  } else recordAnswer(operation, write.answer, target);
}

/** The answer was lost: it may have been done or not. */
function recordLost(operation: Operation, { writes }: OwnWriteTarget<KubeObject>): void {
  const key = keyOfOperation(operation);
  // Without a name, as with generateName, any new object may be the one.
  if (key === undefined) writes.markAllUncertain();
  else writes.markUncertain(key);
}

function recordAnswer<T extends KubeObject>(operation: Operation, answer: unknown, target: OwnWriteTarget<T>): void {
  const { kind, writes } = target;
  if (!isStored(answer)) {
    recordLost(operation, target);
    return;
  }
  const key = formatKey(answer.metadata);
  if (answer.kind === kind.kind && answer.metadata.deletionTimestamp !== undefined && !livesOn(answer)) {
    // Its last finalizer was removed, so the server has deleted it; the revision in the answer is one before.
    writes.deleted(key, answer.metadata.uid);
    return;
  }
  if (answer.apiVersion === kind.apiVersion && answer.kind === kind.kind && answer.metadata.uid) {
    const admitted = target.admit(answer);
    if (admitted !== undefined) {
      writes.written(key, answer.metadata, admitted.object);
      return;
    }
  }
  // Also of another version of the kind, or a Scale: how the object looks is not known, but when it came to look so.
  writes.markUncertain(keyOfOperation(operation) ?? key, answer.metadata.resourceVersion);
}

function recordDeletion<T extends KubeObject>(operation: Operation, answer: unknown, target: OwnWriteTarget<T>): void {
  const { writes } = target;
  if (isStored(answer)) {
    // Some servers give the last state the revision of the deletion, some don't: it goes by the UID alone.
    if (livesOn(answer)) recordAnswer(operation, answer, target);
    else writes.deleted(formatKey(answer.metadata), answer.metadata.uid);
    return;
  }
  const key = keyOfOperation(operation);
  const uid = uidInStatus(answer);
  if (key === undefined || uid === undefined) recordLost(operation, target);
  else writes.deleted(key, uid);
}

/**
 * The deleted object's. Kinds that answer with the object do so, too, when it is deleted at once: then nothing keeps
 * it.
 */
function livesOn({ metadata, spec }: KubeObject & { readonly spec?: unknown }): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadata;
  if (deletionTimestamp === undefined) return false;
  // Namespaces have finalizers of their own, which go when they are empty.
  const inSpec = isJsonObject(spec) && Array.isArray(spec.finalizers) ? spec.finalizers.length : 0;
  return (finalizers?.length ?? 0) + inSpec > 0 || (deletionGracePeriodSeconds ?? 0) > 0;
}

function isStored(answer: unknown): answer is KubeObject {
  if (!isJsonObject(answer) || answer.kind === 'Status' || !isJsonObject(answer.metadata)) return false;
  const { name, resourceVersion } = answer.metadata;
  return typeof name === 'string' && typeof resourceVersion === 'string' && resourceVersion !== '';
}

function uidInStatus(answer: unknown): string | undefined {
  if (!isJsonObject(answer) || !isJsonObject(answer.details)) return undefined;
  return typeof answer.details.uid === 'string' ? answer.details.uid : undefined;
}

function keyOfOperation({ namespace, name, verb, body }: Operation): string | undefined {
  if (name !== undefined) return formatKey({ namespace, name });
  if (verb !== 'create' || !isJsonObject(body) || !isJsonObject(body.metadata)) return undefined;
  const given = body.metadata.name;
  return typeof given === 'string' && given !== '' ? formatKey({ namespace, name: given }) : undefined;
}
