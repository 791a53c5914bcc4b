/** Whether a status says all this already. Servers fill in more, and leave out what is zero. */
export function says(before: unknown, said: unknown): boolean {
  if (Array.isArray(said)) {
    const own = Array.isArray(before) ? before : [];
    return own.length === said.length && said.every((item, index) => says(own[index], item));
  }
  if (typeof said === 'object' && said !== null) {
    const own = (typeof before === 'object' && before !== null ? before : {}) as Readonly<Record<string, unknown>>;
    return Object.entries(said).every(([name, member]) => says(own[name], member));
  }
  return (before ?? zeroOf(said)) === said;
}

function zeroOf(value: unknown): unknown {
  return typeof value === 'number'
    ? 0
    : typeof value === 'boolean'
      ? false
      : typeof value === 'string'
        ? ''
        : undefined;
}
