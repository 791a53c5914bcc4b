import { createHash } from 'node:crypto';
import type { KubeObject } from 'riata/object';

/** One line of what happened in a run. */
export interface HistoryEntry {
  /** Virtual milliseconds since the start. */
  readonly atMs: number;
  /** `story`, `manager-1`, … */
  readonly who: string;
  readonly what: 'step' | 'advance' | 'change' | 'write' | 'event' | 'list' | 'crash' | 'start' | 'fault' | 'note';
  /** Of a write, event or step: its number, counted from 1. */
  readonly number?: number;
  /** `create Site default/blog`. */
  readonly text: string;
  /** The status of the answer to a write, once there is one. */
  code?: number;
  /** Whether a write never reached the server. */
  isUnsent?: boolean;
  /** What a write or step made of the object that it was about; not a part of the hash. */
  stored?: StoredChange;
}

/** An object before and after a write. */
export interface StoredChange {
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

/** What happened in a run, in order. */
export class History {
  readonly entries: HistoryEntry[] = [];
  /** Requests that may still change something. */
  #open: HistoryEntry[] = [];

  add(entry: HistoryEntry): HistoryEntry {
    this.entries.push(entry);
    if (entry.what === 'write' || entry.what === 'step') this.#open.push(entry);
    return entry;
  }

  /** Remembers what the first request that is not answered yet has made of an object. */
  noteStored(id: string, stored: StoredChange): void {
    this.#open = this.#open.filter((each) => !each.isUnsent && each.code === undefined && each.stored === undefined);
    const entry = this.#open.find(({ text }) => isAbout(text, id));
    if (entry !== undefined) entry.stored = stored;
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

/** Whether `patch Site default/blog/status` or `create Pod default/web-*` is about an object. */
function isAbout(text: string, id: string): boolean {
  const object = text.slice(text.indexOf(' ') + 1);
  return object.endsWith('*') ? id.startsWith(object.slice(0, -1)) : object === id || object.startsWith(`${id}/`);
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
