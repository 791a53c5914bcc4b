import { isJsonObject } from '../../object/json.js';
import { describeValue } from '../../object/with-metadata.js';
import type { WriteObject } from '../interfaces.js';

/** Refuses what the types do not let through, but plain JavaScript and casts do: the server could not say what is wrong. */
export function checkWritten(object: WriteObject): void {
  const { apiVersion, kind, metadata } = (object ?? {}) as Partial<WriteObject>;
  if (!apiVersion || !kind) {
    const missing = apiVersion ? 'kind' : kind ? 'apiVersion' : 'them';
    const got = isJsonObject(object) ? `an object without ${missing}` : describeValue(object);
    throw new TypeError(`expected an object with apiVersion and kind, got ${got}; build it by calling its Kind`);
  }
  if (!isJsonObject(metadata)) throw new TypeError(`${apiVersion} ${kind}: the metadata is missing`);
}
