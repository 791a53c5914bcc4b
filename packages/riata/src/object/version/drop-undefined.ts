import { isJsonObject } from '../json.js';

/** The value without members that are undefined, which JSON cannot say; the same value if there are none. */
export function dropUndefined<T>(value: T): T {
  if (Array.isArray(value)) {
    const list = value.map(dropUndefined);
    return list.some((element, index) => element !== value[index]) ? (list as T) : value;
  }
  if (!isJsonObject(value)) return value;
  let isSame = true;
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const next = dropUndefined(member);
    if (next !== member || next === undefined) isSame = false;
    if (next !== undefined) members.push([name, next]);
  }
  // Not by assignment: every name is data, `__proto__` too.
  return isSame ? value : (Object.fromEntries(members) as T);
}
