import type { WriteObject } from 'riata/client';
import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import { conditionsOf, splitTokens, tokenFor } from './placeholder.js';
import { templateValue } from './template-expression.js';
import type { ValueNode } from './values-schema.js';

/** The release that objects are for. */
export interface Release {
  readonly name: string;
  readonly namespace: string;
}

/** What Helm would make of objects with placeholders, for values that are known. */
export function evaluateObjects(
  root: ValueNode,
  objects: readonly WriteObject[],
  values: JsonObject,
  release: Release,
): Json[] {
  const resolve = (name: string) => lookUp(name, values, release);
  return objects
    .filter((object) => conditionsOf(object).every((name) => resolve(name)))
    .map((object) => evaluate(root, object, resolve) as Json);
}

type Resolve = (name: string) => Json | undefined;

function evaluate(root: ValueNode, value: unknown, resolve: Resolve): Json | undefined {
  const found = templateValue(root, value);
  if (found !== undefined) return resolve(found.name);
  if (typeof value === 'string') {
    return splitTokens(value)
      .map(({ text, name }) => text ?? String(resolve(name as string)))
      .join('');
  }
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const spread = templateValue(root, item);
      if (spread?.isSpread) return (resolve(spread.name) as Json[] | undefined) ?? [];
      const made = evaluate(root, item, resolve);
      return made === undefined ? [] : [made];
    });
  }
  if (!isJsonObject(value)) return value as Json;
  const made: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) {
    const spread = templateValue(root, key);
    if (spread?.isSpread) Object.assign(made, resolve(spread.name));
    else {
      const result = evaluate(root, item, resolve);
      if (result !== undefined) made[String(evaluate(root, key, resolve))] = result;
    }
  }
  return made;
}

function lookUp(name: string, values: JsonObject, release: Release): Json | undefined {
  const [root, ...path] = name.split('.');
  const source: unknown = root === 'release' ? release : values;
  return path.reduce<unknown>((value, part) => (isJsonObject(value) ? value[part] : undefined), source) as
    | Json
    | undefined;
}

/** Objects as they compare: keys sorted, and nothing where nothing is, since an empty map and an absent one mean the same. */
export function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(comparable);
  if (!isJsonObject(value)) return value ?? undefined;
  const entries = Object.entries(value)
    .map(([key, item]) => [key, comparable(item)] as const)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Placeholders for the release. */
export const releasePlaceholders: Release = {
  name: tokenFor('release.name'),
  namespace: tokenFor('release.namespace'),
};
