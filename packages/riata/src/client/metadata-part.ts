import type { KindRef } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import { markLossy } from '../object/value/lossy.js';

/**
 * The metadata of an object under its own name: servers send a `PartialObjectMetadata`, which does not say of what. It is
 * remembered to be incomplete, so that `update` refuses it.
 */
export function metadataPart(object: KubeObject, kind: KindRef): KubeObject {
  const part = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: object.metadata };
  return markLossy(part, 'metadata-only');
}
