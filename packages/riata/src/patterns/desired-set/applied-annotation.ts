import { Buffer } from 'node:buffer';
import { isJsonObject, type JsonObject } from '../../object/json.js';
import type { WithMetadata } from '../../object/with-metadata.js';
import { setMarks } from './set-identity.js';

/**
 * The configuration that was applied last, from an object's annotation, in either of wrangler's forms: JSON, or base64
 * of gzip of it. Undefined if it is missing or cannot be read. Wrangler cuts strings at 64 characters there; ours are
 * whole.
 */
export function appliedBefore(object: WithMetadata): JsonObject | undefined {
  const text = object.metadata?.annotations?.[setMarks.applied];
  if (!text) return undefined;
  try {
    const json: unknown = JSON.parse(text.startsWith('{') ? text : unpacked(text));
    return isJsonObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

/** The annotation's value for an object about to be applied. */
export function appliedText(object: object): string {
  const { gzipSync } = process.getBuiltinModule('node:zlib');
  // As wrangler writes it: base64 without padding.
  return gzipSync(JSON.stringify(object)).toString('base64').replace(/=+$/, '');
}

function unpacked(text: string): string {
  const { gunzipSync } = process.getBuiltinModule('node:zlib');
  return gunzipSync(Buffer.from(text, 'base64'), { maxOutputLength: 16 * 1024 * 1024 }).toString();
}
