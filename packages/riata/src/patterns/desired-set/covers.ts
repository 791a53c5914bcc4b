import { isJsonObject } from '../../object/json.js';
import { equal } from '../../object/value/equal.js';
import { getOwn } from '../../object/value/own.js';

/**
 * Whether `value`, as stored, has every field of `intent` with the same value. Other fields do not count. Lists must
 * have the same length: additional items may belong to the intent's writer. False where a server has another spelling
 * (`1000m` and `1`) or leaves out empty values: that costs a request, whereas taking `false` for absent would miss that
 * another client removed it.
 */
export function covers(value: unknown, intent: unknown): boolean {
  if (intent === undefined || intent === null) return value === undefined || value === null;
  if (Array.isArray(intent)) {
    if (!Array.isArray(value) || value.length !== intent.length) return false;
    return intent.every((item, index) => covers(value[index], item));
  }
  if (isJsonObject(intent)) {
    if (!isJsonObject(value)) return false;
    return Object.entries(intent).every(([name, below]) => below === undefined || covers(getOwn(value, name), below));
  }
  return equal(value, intent);
}
