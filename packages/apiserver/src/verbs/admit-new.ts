import type { JsonObject } from 'riata/object';
import type { WriteContext } from '../resource/write-context.js';
import type { Steps } from '../steps.js';

/**
 * The mutating phase of admission for what is sent but not stored: a review, or a Binding. `tracked` is the object with
 * its managedFields, for plugins that need them.
 */
export function* admitNew(
  object: JsonObject,
  { admission }: WriteContext,
  tracked: () => JsonObject = () => object,
): Steps<JsonObject> {
  if (admission === undefined) return object;
  const shown = admission.needsManagedFields('CREATE', object, undefined) ? tracked() : object;
  return yield* admission.admit('CREATE', shown, undefined);
}

/** The validating phase, once the object was checked. */
export function* validateNew(object: JsonObject, { admission }: WriteContext): Steps<void> {
  if (admission !== undefined) yield* admission.validate('CREATE', object, undefined);
}

/** What such an object leads to is a write of the server itself. */
export function ownWrite(context: WriteContext): WriteContext {
  return { ...context, admission: undefined };
}
