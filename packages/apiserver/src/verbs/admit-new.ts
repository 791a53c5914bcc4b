import type { JsonObject } from 'riata/object';
import type { WriteContext } from '../resource/write-context.js';
import type { Steps } from '../steps.js';

/** The mutating phase of admission for what is sent but not stored: a review, or a Binding. */
export function* admitNew(object: JsonObject, { admission }: WriteContext): Steps<JsonObject> {
  return admission === undefined ? object : yield* admission.admit('CREATE', object, undefined);
}

/** The validating phase, once the object was checked. */
export function* validateNew(object: JsonObject, { admission }: WriteContext): Steps<void> {
  if (admission !== undefined) yield* admission.validate('CREATE', object, undefined);
}

/** What such an object leads to is a write of the server itself. */
export function ownWrite(context: WriteContext): WriteContext {
  return { ...context, admission: undefined };
}
