/**
 * The JSON of a value in which whole numbers past 2^53 may stand as bigints. There are hardly ever any: they are looked
 * for only after writing in the usual way has failed.
 */
export function writeJson(value: unknown, indent = 0): string {
  try {
    return JSON.stringify(value, undefined, indent) as string;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return writeExactly(value, indent, '\n');
  }
}

function writeExactly(value: unknown, indent: number, line: string): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const below = line + ' '.repeat(indent);
  const parts = Array.isArray(value)
    ? value.map((item) => writeExactly(item, indent, below))
    : Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(
          ([key, member]) => `${JSON.stringify(key)}:${indent > 0 ? ' ' : ''}${writeExactly(member, indent, below)}`,
        );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (parts.length === 0 || indent === 0) return `${open}${parts.join(',')}${close}`;
  return `${open}${below}${parts.join(`,${below}`)}${line}${close}`;
}
