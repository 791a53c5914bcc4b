import { Buffer } from 'node:buffer';
import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import { readJson, TextError } from '../http/body/read-json.js';
import { readYaml } from '../http/body/read-yaml.js';
import { goTypeOf } from '../http/options/delete-options.js';
import { WebhookCallError } from './webhook-caller.js';

const typeMeta =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/**
 * Reads the review that a webhook answered with, as client-go does whatever the content type: an object in JSON, else
 * any YAML. Throws a {@link WebhookCallError} with client-go's message.
 */
export async function readReview(text: string): Promise<JsonObject> {
  const review = await parse(text.replace(/^\uFEFF/, ''));
  if (review === null) return {};
  if (!isJsonObject(review))
    throw notInterpreted(`json: cannot unmarshal ${goTypeOf(review)} into Go value of type ${typeMeta}`);
  for (const [name, value] of Object.entries(review)) {
    if ((name !== 'apiVersion' && name !== 'kind') || typeof value === 'string' || value === null) continue;
    throw notInterpreted(mismatch(value ?? null, '', name, 'string'));
  }
  return review;
}

/** A value of another type than that of the Go struct it is read into. */
export function mismatch(value: Json, struct: string, path: string, type: string): string {
  return `json: cannot unmarshal ${goTypeOf(value)} into Go struct field ${struct}.${path} of type ${type}`;
}

async function parse(text: string): Promise<Json> {
  const bytes = Buffer.from(text);
  const isJson = /^\s*\{/.test(text);
  try {
    return isJson ? readJson(bytes) : await readYaml(bytes);
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    throw isJson ? notInterpreted(error.message) : new WebhookCallError(error.message);
  }
}

function notInterpreted(why: string): WebhookCallError {
  return new WebhookCallError(`couldn't get version/kind; json parse error: ${why}`);
}
