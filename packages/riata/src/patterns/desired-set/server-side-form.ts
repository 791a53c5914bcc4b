import type { KubeObject } from '../../object/meta.js';
import { isConflict } from '../../rest/errors/error-guards.js';
import type { DesiredMember } from './apply-result.js';
import { setMarks } from './set-identity.js';
import { defaultFieldManager } from './set-membership.js';
import { isAsIntended, type SetForm, type WriteContext } from './set-writer.js';
import { takeOverPatch } from './take-over-patch.js';

/** Server-side apply: one request makes an object or changes it, and the server knows what is ours. */
export const serverSideForm: SetForm = {
  isSame(current, desired) {
    return current.metadata.annotations?.[setMarks.applied] === undefined && isAsIntended(current, desired);
  },
  async write(desired, current, context) {
    const known = current === undefined ? current : await takenOver(desired, current, context);
    const written = await context.send(desired, { type: 'apply', body: desired.intent }, known);
    // Something that was not in the set may have been applied the other way, by another set.
    if (current !== undefined || written.metadata.annotations?.[setMarks.applied] === undefined) return written;
    const ours = await takenOver(desired, written, context);
    return ours === written ? written : context.send(desired, { type: 'apply', body: desired.intent }, undefined);
  },
};

/** The object after its fields have changed hands, where they were applied in the three-way form. */
async function takenOver(desired: DesiredMember, current: KubeObject, context: WriteContext): Promise<KubeObject> {
  if (current.metadata.annotations?.[setMarks.applied] === undefined || context.dryRun) return current;
  const { client, options, signal } = context;
  let object: KubeObject = current;
  for (let turn = 0; ; turn += 1) {
    // Neither caches nor what was listed has managedFields.
    if (turn > 0 || object.metadata.managedFields === undefined)
      object = await client.get(desired.kind, desired, { signal });
    const patch = takeOverPatch(object, options.fieldManager ?? defaultFieldManager, desired.kind.apiVersion);
    if (patch === undefined) return object;
    try {
      return await client.patch(desired.kind, desired, { type: 'json', body: patch }, { signal });
    } catch (error) {
      if (!isConflict(error) || turn >= 5) throw error;
    }
  }
}
