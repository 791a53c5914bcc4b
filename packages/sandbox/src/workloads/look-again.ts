/** The result of a reconcile that is due again after this many milliseconds. */
export function lookAgain(ms: number): { readonly requeueAfter: `${number}ms` } {
  return { requeueAfter: `${Math.max(1, Math.ceil(ms))}ms` };
}

/** The same for the shortest of some times that are not over; undefined if all are over. */
export function lookAgainSoonest(waits: readonly (number | undefined)[]): ReturnType<typeof lookAgain> | undefined {
  const next = Math.min(...waits.filter((wait) => wait !== undefined).filter((wait) => wait > 0));
  return Number.isFinite(next) ? lookAgain(next) : undefined;
}
