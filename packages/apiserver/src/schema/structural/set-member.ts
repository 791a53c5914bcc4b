import type { Json } from 'riata/object';

/** Sets a member of an object that is being made, also one named `__proto__`, which an assignment would swallow. */
export function setMember(object: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
  } else object[key] = value;
}
