import { isDeepStrictEqual } from 'node:util';
import type { Indexer, Indexers } from 'riata/cache';
import type { ConfigMap } from 'riata/kinds';
import { keyOf } from 'riata/object';

export const colours = ['red', 'green', 'blue'];

/** One value, several values, and none for some. */
export const indexers: Indexers<ConfigMap> = {
  colour: (object) => [object.data?.colour ?? ''],
  letters: (object) => [...new Set(object.data?.colour ?? '')],
  recreated: (object) => (object.data?.step === 'first' ? [] : ['yes']),
};

/** What indexes hold that does not follow from the objects, or lack that does. */
export function indexProblems(indexer: Indexer<ConfigMap>): string[] {
  const problems: string[] = [];
  const objects = indexer.list();
  for (const [name, func] of Object.entries(indexers)) {
    const desired: Record<string, string[]> = {};
    for (const object of objects) {
      for (const value of func(object)) desired[value] = [...(desired[value] ?? []), keyOf(object)];
    }
    const values = indexer.listIndexFuncValues(name);
    const got = Object.fromEntries(values.map((value) => [value, indexer.indexKeys(name, value).sort()]));
    for (const keys of Object.values(desired)) keys.sort();
    if (!isDeepStrictEqual(sorted(got), sorted(desired))) {
      problems.push(`index ${name}: ${JSON.stringify(got)} should be ${JSON.stringify(desired)}`);
    }
  }
  return problems;
}

function sorted(index: Readonly<Record<string, readonly string[]>>): [string, readonly string[]][] {
  return Object.entries(index).sort(([a], [b]) => (a < b ? -1 : 1));
}
