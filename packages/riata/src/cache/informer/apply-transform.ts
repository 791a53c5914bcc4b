import type { KubeObject } from '../../object/meta.js';
import { carryLoss, markLossy } from '../../object/value/lossy.js';
import { describeObject, describeValue } from '../../object/with-metadata.js';

/** The identity that stores, handlers and own writes use. */
const identity = ['namespace', 'name', 'uid', 'resourceVersion'] as const;

/** A transform does not do what it has to: only its author can mend that. */
export class TransformError extends Error {
  override readonly name = 'TransformError';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    // The stack leads through the transport that delivered the bytes, which may be the user's and is not to blame.
    this.stack = `${this.name}: ${message}`;
  }
}

/**
 * The result of a transform, marked as different from the server's object. Throws, with the object's name, when the
 * transform throws or changes the identity: without its resourceVersion, updates would look like no-ops and own writes
 * would never end.
 */
export function applyTransform<T extends KubeObject>(transform: (object: T) => T, object: T): T {
  const { kind, metadata: before } = object;
  const { namespace, name, uid, resourceVersion } = before;
  const known = { namespace, name, uid, resourceVersion };
  const what = () => describeObject({ kind, metadata: { namespace, name } });
  let kept: T;
  try {
    kept = transform(object);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new TransformError(`transform failed for ${what()}: ${why}`, { cause });
  }
  if (typeof kept !== 'object' || kept === null) {
    throw new TransformError(
      `transform returned ${describeValue(kept)} for ${what()}; return the object, or another one to store instead`,
    );
  }
  const changed = identity.find((field) => kept.metadata?.[field] !== known[field]);
  if (changed !== undefined) {
    throw new TransformError(
      `transform changed metadata.${changed} of ${what()}; leave ${identity.join(', ')} unchanged`,
    );
  }
  if (kept !== object) carryLoss(object, kept);
  return markLossy(kept, 'transformed');
}
