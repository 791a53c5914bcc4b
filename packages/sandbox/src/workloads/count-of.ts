/** A number, or as a percentage a part of `whole`. */
export function countOf(value: number | string, whole: number, round: (value: number) => number): number {
  if (typeof value === 'number') return value;
  return value.endsWith('%') ? round((whole * Number.parseInt(value, 10)) / 100) : Number(value);
}
