import { isJsonObject } from 'riata/object';

/** Where all of it is written. */
export const crashPath = '/api/v1/namespaces/default/configmaps';

/** One version of an object. */
export interface WrittenState {
  readonly revision: number;
  readonly value: string;
}

/** The name, and what is stored under it. */
export function stateOf(object: unknown): readonly [name: string, state: WrittenState] {
  if (!isJsonObject(object) || !isJsonObject(object.metadata)) throw new Error('no object');
  const { name, resourceVersion } = object.metadata;
  const value = isJsonObject(object.data) ? String(object.data.value) : '';
  return [String(name), { revision: Number(resourceVersion), value }];
}
