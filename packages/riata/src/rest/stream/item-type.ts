import type { JsonObject } from '../../object/json.js';
import type { TypeMeta } from '../../object/meta.js';
import { carryLoss } from '../../object/value/lossy.js';

/** What the items of a list are, as far as the list itself says: in a `PodList`, Pods. */
export function itemTypeOf(list: JsonObject): TypeMeta | undefined {
  const { kind, apiVersion } = list;
  if (typeof kind !== 'string' || typeof apiVersion !== 'string' || !kind.endsWith('List') || kind === 'List')
    return undefined;
  return { apiVersion, kind: kind.slice(0, -'List'.length) };
}

/** Whether a list has said all about the type of its items that it can say, which may be nothing. */
export function saysType({ kind, apiVersion }: JsonObject): boolean {
  const isReported = typeof kind === 'string' && kind.endsWith('List') && kind !== 'List';
  return kind !== undefined && (!isReported || apiVersion !== undefined);
}

/** Whether an item says itself what it is. */
export function isTyped(item: object): boolean {
  const { apiVersion, kind } = item as { apiVersion?: unknown; kind?: unknown };
  return typeof apiVersion === 'string' && apiVersion !== '' && typeof kind === 'string' && kind !== '';
}

/** A copy of an item with what it does not say itself of `type`, in front of all the others. */
export function withType<T extends object>(item: T, type: TypeMeta): T {
  const { apiVersion, kind } = item as { apiVersion?: unknown; kind?: unknown };
  const typed = { apiVersion: type.apiVersion, kind: type.kind, ...item };
  if (apiVersion !== undefined) typed.apiVersion = (apiVersion || type.apiVersion) as string;
  if (kind !== undefined) typed.kind = (kind || type.kind) as string;
  carryLoss(item, typed);
  return typed;
}
