import { Buffer } from 'node:buffer';
import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import { readJson, TextError } from '../../http/body/read-json.js';
import { goTypeOf } from '../../http/options/delete-options.js';
import { subresourceAsResource } from '../../resource/built-in/built-in-resource.js';
import { applyJsonPatchSteps, ImpossiblePatchError } from '../../resource/json-patch-steps.js';
import type { Resource } from '../../resource/resource.js';
import type { ResourceTable } from '../../resource/resource-table.js';
import { goQuote } from '../../status/go-quote.js';
import { internal } from '../../status/refusal.js';
import type { Steps } from '../../steps.js';
import type { AdmissionAttributes } from '../admission.js';
import type { MatchedResource } from '../matching/request-matcher.js';
import { FailedCallError } from './call-webhook.js';
import { readPatched } from './read-patched.js';
import type { Webhook } from './webhook-source.js';

/**
 * Applies a webhook's patch to an object, then decodes and defaults it like any other; undefined for an empty patch.
 * Throws a {@link FailedCallError} for a malformed patch, a `Refusal` for one that does not fit.
 */
export function* applyPatch(
  served: ResourceTable,
  webhook: Webhook,
  attributes: AdmissionAttributes,
  { resource, object }: MatchedResource & { readonly object: JsonObject | undefined },
  { patch, patchType }: { readonly patch: string; readonly patchType: string },
): Steps<{ readonly object: JsonObject; readonly steps: readonly Json[] } | undefined> {
  const steps = stepsOf(webhook, patch);
  if (steps.length === 0) return undefined;
  if (object === undefined) {
    const what = 'attempted to modify the object, which is not supported for this operation';
    throw internal(`admission webhook ${goQuote(webhook.name)} ${what}`);
  }
  if (patchType !== 'JSONPatch')
    throw new FailedCallError(webhook.name, `unsupported patch type ${goQuote(patchType)}`);
  let patched: Json;
  try {
    patched = applyJsonPatchSteps(object, steps);
  } catch (error) {
    if (error instanceof ImpossiblePatchError) throw internal(error.message);
    throw error;
  }
  if (!isJsonObject(patched)) throw internal("Object 'Kind' is missing in '[]'");
  // The options of a connection have no served kind.
  if (attributes.operation === 'CONNECT') return { object: patched, steps };
  return { object: yield* readPatched(served, resourceOf(attributes, resource), patched), steps };
}

function stepsOf(webhook: Webhook, patch: string): readonly Json[] {
  const failed = (why: string) =>
    new FailedCallError(webhook.name, `received undecodable patch in webhook response: ${why}`);
  let steps: Json;
  try {
    steps = readJson(Buffer.from(patch));
  } catch (error) {
    throw error instanceof TextError ? failed(error.message) : error;
  }
  if (steps === null) return [];
  if (!Array.isArray(steps)) {
    throw failed(`json: cannot unmarshal ${goTypeOf(steps)} into Go value of type jsonpatch.Patch`);
  }
  const odd = steps.find((step) => !isJsonObject(step));
  if (odd === undefined) return steps;
  throw failed(`json: cannot unmarshal ${goTypeOf(odd)} into Go value of type jsonpatch.Operation`);
}

/** The resource by which the patched object is decoded. */
export function resourceOf({ subresource, kind }: AdmissionAttributes, resource: Resource): Resource {
  if (subresource === '' || kind.kind === resource.kind) return resource;
  const below = resource.subresources.find(({ name }) => name === subresource);
  return below === undefined ? resource : subresourceAsResource(resource, below);
}
