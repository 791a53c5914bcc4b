import util from 'node:util';

/** Cuts a text to a number of columns; an ellipsis shows that something is missing. */
export function clip(text: string, columns: number): string {
  const points = [...text];
  return points.length <= columns ? text : `${points.slice(0, Math.max(1, columns - 1)).join('')}…`;
}

/** Colours of the views. */
export type Color = 'cyan' | 'green' | 'yellow' | 'red' | 'gray' | 'bold' | 'inverse';

/** Colours a text; the identity if there are no colours. */
export type Paint = (color: Color, text: string) => string;

/** How to colour texts, if at all. */
export function painter(colors: boolean): Paint {
  return colors ? (color, text) => util.styleText(color, text, { validateStream: false }) : (_, text) => text;
}

/** A duration as people read it: `850ms`, `4.2s`, `3m`, `5h`, `2d`. */
export function shortDuration(ms: number): string {
  if (ms < 1) return '<1ms';
  if (ms < 1_000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)}ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)}s`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)}s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)}m`;
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)}h` : `${Math.round(ms / 86_400_000)}d`;
}

/** The time of the day in UTC, as `21:33:58`. */
export function clockTime(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(11, 19);
}

/** A number of bytes, as `84 MB`. */
export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_000_000)} MB`;
}
