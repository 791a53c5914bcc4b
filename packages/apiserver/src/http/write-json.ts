/**
 * The JSON of a value in which whole numbers past 2^53 may stand as bigints. There are hardly ever any: they are looked
 * for only after writing in the usual way has failed.
 */
export function writeJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent) as string;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return writeWithBigints(value, indent);
  }
}

/** A text that stands for a number, in a place where texts with control characters are escaped. */
const mark = '\u0000int64:';
const marked = /"\\u0000int64:(-?\d+)"/g;

function writeWithBigints(value: unknown, indent: number | undefined): string {
  const text = JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? mark + member : member), indent);
  return text.replace(marked, '$1');
}
