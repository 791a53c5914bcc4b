/** Adds all of `more` to a list. `push(...more)` would put them on the stack, which ends at a hundred thousand. */
export function append<T>(list: T[], more: Iterable<T>): void {
  for (const item of more) list.push(item);
}
