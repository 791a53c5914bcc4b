import type { HistoryEntry } from '../run/history.js';
import type { RunResult } from '../run/run-result.js';

/** Of a longer story, the middle is left out. */
const mostLines = 80;

/** What happened in a run, to read: who wrote what, what each process saw, where it died. */
export function storyText({ history }: RunResult): string {
  const entries = history.entries.filter(({ what }) => what !== 'note');
  const width = Math.min(28, Math.max(...entries.map(({ who }) => who.length), 5));
  const lines = entries.map((entry) => `  ${entry.who.padEnd(width)}  ${lineOf(entry)}`);
  if (lines.length <= mostLines) return lines.join('\n');
  const half = mostLines / 2;
  return [...lines.slice(0, half), `  … ${lines.length - mostLines} more lines …`, ...lines.slice(-half)].join('\n');
}

function lineOf({ what, number, text, code }: HistoryEntry): string {
  const answer = code === undefined ? '' : ` → ${code}`;
  if (what === 'crash') return `✗ ${text}`;
  if (what === 'fault' || what === 'change') return `! ${text}`;
  if (what === 'write') return `${text}${answer}   (write ${number})`;
  return `${text}${answer}`;
}
