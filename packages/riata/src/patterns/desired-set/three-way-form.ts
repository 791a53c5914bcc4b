import type { Patch } from '../../client/patch.js';
import { builtinPatchSchema } from '../../kinds/builtin-patch-schema.js';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.js';
import type { KubeObject } from '../../object/meta.js';
import { createThreeWayMergePatch } from '../../object/patch/create-three-way-merge-patch.js';
import { createThreeWayJsonMergePatch } from '../../object/patch/merge-patch.js';
import { equal } from '../../object/value/equal.js';
import { isAlreadyExists } from '../../rest/errors/error-guards.js';
import { appliedBefore, appliedText } from './applied-annotation.js';
import type { ApplySetOptions } from './apply-options.js';
import type { DesiredMember } from './apply-result.js';
import { patched } from './prepare-set.js';
import { setMarks } from './set-identity.js';
import type { SetForm } from './set-writer.js';

/** Wrangler's own form: an annotation keeps what was applied, and patches are made here. */
export function threeWayForm(options: ApplySetOptions): SetForm {
  const patchFor = (desired: DesiredMember, current: KubeObject) => threeWayPatch(desired, current, options);
  return {
    isSame: (current, desired) => patchFor(desired, current) === undefined,
    async write(desired, known, { client, send, signal, dryRun }) {
      let current = known;
      if (current === undefined) {
        try {
          return (await client.create(withApplied(desired.intent, undefined), { signal, dryRun })) as KubeObject;
        } catch (error) {
          if (!isAlreadyExists(error)) throw error;
          current = await client.get(desired.kind, desired, { signal });
        }
      }
      const patch = patchFor(desired, current);
      return patch === undefined ? current : send(desired, patch, current);
    },
  };
}

/** The patch that takes an object to its desired state; undefined for a no-op. */
function threeWayPatch(desired: DesiredMember, stored: KubeObject, options: ApplySetOptions): Patch | undefined {
  const { diffPatches = [], ignorePreviousApplied = false } = options;
  const before = ignorePreviousApplied ? undefined : appliedBefore(stored);
  const original = patched(before ?? {}, desired, diffPatches);
  const modified = withApplied(desired.intent, stored) as object;
  const current = patched(stored, desired, diffPatches);
  const schema = builtinPatchSchema(desired.kind);
  const body =
    schema === undefined
      ? createThreeWayJsonMergePatch(original as Json, modified as Json, current as unknown as Json)
      : createThreeWayMergePatch(original, modified, current, schema);
  const clean = isJsonObject(body) ? cleaned(body) : {};
  if (Object.keys(clean).length === 0) return undefined;
  return { type: schema === undefined ? 'merge' : 'strategic', body: clean };
}

/** The object with the note of what it is; the note that is there if it says the same, in whatever spelling. */
function withApplied(intent: DesiredMember['intent'], stored: KubeObject | undefined): DesiredMember['intent'] {
  const isNoted = stored !== undefined && equal(appliedBefore(stored), intent);
  const text = isNoted ? stored.metadata.annotations?.[setMarks.applied] : appliedText(intent);
  const annotations = { ...intent.metadata.annotations, [setMarks.applied]: text ?? '' };
  return { ...intent, metadata: { ...intent.metadata, annotations } };
}

function cleaned({ apiVersion: _apiVersion, kind: _kind, status: _status, ...rest }: JsonObject): JsonObject {
  return rest;
}
