import { createHash } from 'node:crypto';

/** One line of what happened in a run. */
export interface HistoryEntry {
  /** Virtual milliseconds since the start. */
  readonly atMs: number;
  /** `story`, `manager-1`, … */
  readonly who: string;
  readonly what: 'step' | 'change' | 'write' | 'event' | 'list' | 'crash' | 'start' | 'fault' | 'note';
  /** Of a write, event or step: its number, counted from 1. */
  readonly number?: number;
  /** `create Site default/blog`. */
  readonly text: string;
  /** The status of the answer to a write, once there is one. */
  code?: number;
}

/** What happened in a run, in order. */
export class History {
  readonly entries: HistoryEntry[] = [];

  add(entry: HistoryEntry): HistoryEntry {
    this.entries.push(entry);
    return entry;
  }

  /** The same for the same run, on every machine. */
  hash(): string {
    const hash = createHash('sha256');
    for (const entry of this.entries) hash.update(`${lineOf(entry)}\n`);
    return hash.digest('hex');
  }

  lines(): readonly string[] {
    return this.entries.map(lineOf);
  }
}

function lineOf({ atMs, who, what, number, text, code }: HistoryEntry): string {
  const numbered = number === undefined ? what : `${what} ${number}`;
  return `${atMs} ${who} ${numbered}: ${text}${code === undefined ? '' : ` → ${code}`}`;
}

/** Where two histories part, for an error message; undefined if they are the same. */
export function firstDifference(one: History, other: History): { one?: string; other?: string } | undefined {
  const [a, b] = [one.lines(), other.lines()];
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    if (a[at] === b[at]) continue;
    return { ...(a[at] !== undefined && { one: a[at] }), ...(b[at] !== undefined && { other: b[at] }) };
  }
  return undefined;
}
