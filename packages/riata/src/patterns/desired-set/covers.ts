import { isJsonObject } from '../../object/json.js';
import { equal } from '../../object/value/equal.js';
import { getOwn } from '../../object/value/own.js';

/**
 * Whether `value`, as stored, says all that `intent` says. Fields that only the server or others know do not count.
 * Lists want the same length: what stands in them besides may belong to the intent's writer. False where a server has
 * another spelling (`1000m` and `1`) or leaves out what is empty: that costs a request, whereas taking `false` for
 * absent would miss that somebody removed it.
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
