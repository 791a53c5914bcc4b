/** At most `most` of these, in their order: all that matter as far as they fit, and of the others every n-th. */
export function sample<T>(all: readonly T[], most: number, matters: (each: T) => boolean): readonly T[] {
  if (all.length <= most) return all;
  const kept = new Set<T>();
  for (const each of all) if (kept.size < most && matters(each)) kept.add(each);
  const others = all.filter((each) => !kept.has(each));
  const room = most - kept.size;
  for (let at = 0; at < room; at += 1) kept.add(others[Math.floor((at * others.length) / room)] as T);
  return all.filter((each) => kept.has(each));
}
