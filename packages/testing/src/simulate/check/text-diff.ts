/** Lines that differ, marked with `-` (only in `before`) and `+` (only in `after`), with one line around them. */
export function textDiff(before: string, after: string): string {
  const [a, b] = [before, after].map((text) => (text === '' ? [] : text.split('\n'))) as [string[], string[]];
  // Longest common subsequence; objects are short.
  const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const [row, next] = [table[i] as Uint16Array, table[i + 1] as Uint16Array];
      row[j] = a[i] === b[j] ? (next[j + 1] ?? 0) + 1 : Math.max(next[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  const lines: { readonly mark: ' ' | '-' | '+'; readonly text: string }[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ mark: ' ', text: a[i] ?? '' });
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && (table[i + 1]?.[j] ?? 0) >= (table[i]?.[j + 1] ?? 0))) {
      lines.push({ mark: '-', text: a[i] ?? '' });
      i += 1;
    } else {
      lines.push({ mark: '+', text: b[j] ?? '' });
      j += 1;
    }
  }
  const isNear = (at: number) => [at - 1, at, at + 1].some((near) => (lines[near]?.mark ?? ' ') !== ' ');
  return lines.flatMap(({ mark, text }, at) => (isNear(at) ? [`${mark} ${text}`] : [])).join('\n');
}
