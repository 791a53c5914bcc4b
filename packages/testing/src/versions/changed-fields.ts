import { isJsonObject, type Json } from 'riata/object';

/** A field that differs between two values. */
export interface ChangedField {
  readonly path: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** The fields in which two values differ, as deep down as they do. */
export function changedFields(before: Json | undefined, after: Json | undefined, path = ''): ChangedField[] {
  if (before === after) return [];
  if (Array.isArray(before) && Array.isArray(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, at) => changedFields(before[at], after[at], `${path}[${at}]`)).flat();
  }
  if (!isJsonObject(before) || !isJsonObject(after)) return [{ path, before, after }];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const member = (object: object, name: string) =>
    Object.hasOwn(object, name) ? (object as Record<string, Json | undefined>)[name] : undefined;
  return [...names].flatMap((name) => {
    const step = /^[A-Za-z_][\w-]*$/.test(name) ? `${path === '' ? '' : '.'}${name}` : `[${JSON.stringify(name)}]`;
    return changedFields(member(before, name), member(after, name), path + step);
  });
}
