/** How many lines around a change are shown. */
const context = 3;

interface Block {
  readonly a: number;
  readonly b: number;
  readonly size: number;
}

/** The changes between two values, as upstream shows them: a unified diff of their JSON, indented by one space. */
export function goDiff(before: unknown, after: unknown): string {
  const [a, b] = [before, after].map((value) => JSON.stringify(value, undefined, 1).split('\n')) as [
    string[],
    string[],
  ];
  return hunksOf(a, b)
    .map((blocks) => hunk(a, b, blocks))
    .join('');
}

/** Equal runs of lines, the longest first and then what is left and right of it, as Python's difflib finds them. */
function matches(a: readonly string[], b: readonly string[], at: Block & { readonly sizeB: number }): Block[] {
  let best: Block = { a: at.a, b: at.b, size: 0 };
  let runs: number[] = [];
  for (let i = at.a; i < at.a + at.size; i += 1) {
    const next: number[] = [];
    for (let j = at.b; j < at.b + at.sizeB; j += 1) {
      if (a[i] !== b[j]) continue;
      const size = (runs[j - 1] ?? 0) + 1;
      next[j] = size;
      if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size };
    }
    runs = next;
  }
  if (best.size === 0) return [];
  const [endA, endB] = [best.a + best.size, best.b + best.size];
  return [
    ...matches(a, b, { a: at.a, b: at.b, size: best.a - at.a, sizeB: best.b - at.b }),
    best,
    ...matches(a, b, { a: endA, b: endB, size: at.a + at.size - endA, sizeB: at.b + at.sizeB - endB }),
  ];
}

/** Equal runs around changes that are near each other, cut to what is shown of them. */
function hunksOf(a: readonly string[], b: readonly string[]): Block[][] {
  const found = matches(a, b, { a: 0, b: 0, size: a.length, sizeB: b.length });
  const blocks = [{ a: 0, b: 0, size: 0 }, ...joined(found), { a: a.length, b: b.length, size: 0 }];
  const hunks: Block[][] = [];
  let open: Block[] = [];
  for (const [i, block] of blocks.entries()) {
    const next = blocks[i + 1];
    const isChanged = next !== undefined && (next.a > block.a + block.size || next.b > block.b + block.size);
    if (open.length > 0 && (block.size > 2 * context || !isChanged)) {
      hunks.push([...open, { ...block, size: Math.min(block.size, context) }]);
      open = [];
    }
    if (!isChanged) continue;
    const cut = open.length > 0 ? 0 : Math.max(0, block.size - context);
    open.push({ a: block.a + cut, b: block.b + cut, size: block.size - cut });
  }
  return hunks;
}

/** Runs that follow each other without a gap are one. */
function joined(blocks: readonly Block[]): Block[] {
  const made: Block[] = [];
  for (const block of blocks) {
    const last = made.at(-1);
    if (last !== undefined && last.a + last.size === block.a && last.b + last.size === block.b) {
      made[made.length - 1] = { ...last, size: last.size + block.size };
    } else made.push(block);
  }
  return made;
}

function hunk(a: readonly string[], b: readonly string[], blocks: readonly Block[]): string {
  const [first, last] = [blocks[0] as Block, blocks.at(-1) as Block];
  const range = (start: number, end: number) => {
    const length = end - start;
    return length === 1 ? `${start + 1}` : `${length === 0 ? start : start + 1},${length}`;
  };
  const lines = blocks.flatMap((block, i) => {
    const next = blocks[i + 1];
    return [
      ...a.slice(block.a, block.a + block.size).map((line) => ` ${line}`),
      ...(next === undefined ? [] : a.slice(block.a + block.size, next.a).map((line) => `-${line}`)),
      ...(next === undefined ? [] : b.slice(block.b + block.size, next.b).map((line) => `+${line}`)),
    ];
  });
  const [endA, endB] = [last.a + last.size, last.b + last.size];
  return `@@ -${range(first.a, endA)} +${range(first.b, endB)} @@\n${lines.map((line) => `${line}\n`).join('')}`;
}
