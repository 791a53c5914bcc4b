/** The characters of a value as JSON, roughly; counting ends at `most`, so that large values cost no more than that. */
export function sizeUpTo(most: number, value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 6;
  let size = 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      size += sizeUpTo(most - size, item) + 1;
      if (size >= most) return most;
    }
    return size;
  }
  for (const name of Object.keys(value)) {
    size += name.length + 4 + sizeUpTo(most - size, (value as Record<string, unknown>)[name]);
    if (size >= most) return most;
  }
  return size;
}
