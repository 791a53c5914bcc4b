import type { KindRef } from '../../object/kind.js';
import type { KubeObject, ObjectMeta } from '../../object/meta.js';
import { isControlledBy, setControllerReference } from '../../object/owner-references.js';
import { patchTypes } from '../../rest/rest-client.js';
import type { ApplyFields } from '../apply-fields.js';
import type { WriteObject } from '../interfaces.js';
import type { ApplyOptions } from '../options.js';
import type { Operation } from './operation.js';
import { callOf, writeParams } from './params.js';

/** The operation that applies an object, or a subresource of it. Throws for an invalid intent. */
export function applyOperation(
  kind: KindRef,
  object: WriteObject,
  options: ApplyOptions,
  subresource?: string,
): Operation<'patch'> {
  refuseStored(object);
  const body = owned(kind, object, options);
  const { name, namespace } = body.metadata;
  if (!name) throw new TypeError(`apply ${kind.kind}: metadata.name is missing; apply does not support generateName`);
  const { current } = options;
  const contentType = patchTypes.apply;
  const params = writeParams(options);
  return { verb: 'patch', kind, namespace, name, subresource, params, body, contentType, current, ...callOf(options) };
}

/** The intent that some fields of an object of this kind are. */
export function intentOf<R extends KubeObject>(kind: KindRef<R>, fields: ApplyFields<R>): WriteObject {
  return { ...fields, apiVersion: kind.apiVersion, kind: kind.kind };
}

/** An object that was read holds more than an intent: everything in it would become the applier's. */
function refuseStored(object: WriteObject): void {
  const { uid, managedFields, name } = object.metadata as Partial<ObjectMeta>;
  if (uid === undefined && managedFields === undefined) return;
  throw new TypeError(
    `apply ${object.kind} ${JSON.stringify(name)}: this object was read from a server (it has a ` +
      `${uid === undefined ? 'managedFields' : 'uid'}); apply an intent, built by ${object.kind}({ … }), ` +
      'or the result of extractFields',
  );
}

function owned(kind: KindRef, object: WriteObject, { ownedBy: owner, current }: ApplyOptions): WriteObject {
  if (owner === undefined) return object;
  // Throws if it is another one's.
  if (current !== undefined && !isControlledBy(current, owner)) setControllerReference(owner, current);
  const namespace = kind.scope === 'Namespaced' ? (object.metadata.namespace ?? owner.metadata.namespace) : undefined;
  const placed = namespace === undefined ? object : { ...object, metadata: { ...object.metadata, namespace } };
  return setControllerReference(owner, placed);
}
