import type { HistoryEntry } from '../run/history.js';
import type { RunResult } from '../run/run-result.js';
import { storedText } from './stored-text.js';

/** Of a longer story, the middle is left out. */
const mostLines = 80;

/** What happened in a run, to read: who wrote what, what each process saw, where it died. */
export function storyText({ history }: RunResult): string {
  const entries = history.entries.filter(({ what }) => what !== 'note');
  const width = Math.min(44, Math.max(...entries.map(({ who }) => who.length), 5));
  const lines: string[] = [];
  for (const { entry, times } of withoutRepeats(entries)) {
    lines.push(`  ${entry.who.padEnd(width)}  ${lineOf(entry)}`);
    if (times > 1) lines.push(`  … ${times - 1} more of these …`);
  }
  if (lines.length <= mostLines) return lines.join('\n');
  const half = mostLines / 2;
  return [...lines.slice(0, half), `  … ${lines.length - mostLines} more lines …`, ...lines.slice(-half)].join('\n');
}

/** Merges consecutive identical requests, such as retries, into one line with a count. */
function withoutRepeats(entries: readonly HistoryEntry[]): readonly { entry: HistoryEntry; times: number }[] {
  const merged: { entry: HistoryEntry; times: number }[] = [];
  for (const entry of entries) {
    const last = merged.at(-1);
    const isRepeat =
      last !== undefined &&
      entry.what === 'write' &&
      entry.stored === undefined &&
      (['who', 'what', 'text', 'code', 'stored'] as const).every((name) => entry[name] === last.entry[name]);
    if (isRepeat) last.times += 1;
    else merged.push({ entry, times: 1 });
  }
  return merged;
}

function lineOf({ what, number, text, code, stored }: HistoryEntry): string {
  const answer = code === undefined ? '' : ` → ${code}`;
  const made = stored === undefined ? '' : storedText(stored);
  if (what === 'crash') return `✗ ${text}`;
  if (what === 'fault' || what === 'change') return `! ${text}`;
  const done = what === 'write' ? `${text}${answer}   (write ${number})` : `${text}${answer}`;
  return made === '' ? done : `${done}: ${made}`;
}
