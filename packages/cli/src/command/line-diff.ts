/** A line that only one of two texts has, with its number there. */
export interface LineDifference {
  readonly change: '-' | '+';
  readonly line: number;
  readonly text: string;
}

/** The lines that differ, in order; the fewest that explain the difference. */
export function diffLines(before: string, after: string): LineDifference[] {
  const [from, to] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start += 1;
  let end = 0;
  while (end < from.length - start && end < to.length - start && from.at(-1 - end) === to.at(-1 - end)) end += 1;
  const left = from.slice(start, from.length - end);
  const right = to.slice(start, to.length - end);
  return walk(left, right, start, commonLengths(left, right));
}

/** For each pair of positions, how many lines both rests have in common. Past some size nothing: then all lines differ. */
function commonLengths(left: readonly string[], right: readonly string[]): Uint32Array | undefined {
  if (left.length * right.length > 10_000_000) return undefined;
  const width = right.length + 1;
  const lengths = new Uint32Array((left.length + 1) * width);
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      const below = lengths[(i + 1) * width + j] as number;
      const beside = lengths[i * width + j + 1] as number;
      const across = lengths[(i + 1) * width + j + 1] as number;
      lengths[i * width + j] = left[i] === right[j] ? across + 1 : Math.max(below, beside);
    }
  }
  return lengths;
}

function walk(
  left: readonly string[],
  right: readonly string[],
  start: number,
  lengths: Uint32Array | undefined,
): LineDifference[] {
  const lines: LineDifference[] = [];
  const width = right.length + 1;
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const isSame = lengths !== undefined && i < left.length && j < right.length && left[i] === right[j];
    if (isSame) {
      i += 1;
      j += 1;
      continue;
    }
    const below = lengths?.[(i + 1) * width + j] ?? 0;
    const beside = lengths?.[i * width + j + 1] ?? 0;
    if (i < left.length && (j >= right.length || below >= beside)) {
      lines.push({ change: '-', line: start + i + 1, text: left[i] as string });
      i += 1;
    } else {
      lines.push({ change: '+', line: start + j + 1, text: right[j] as string });
      j += 1;
    }
  }
  return lines;
}
