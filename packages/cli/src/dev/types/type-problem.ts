import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import util from 'node:util';

/** An error of the compiler. */
export interface TypeProblem {
  /** Absolute; undefined for what is about the project as a whole. */
  readonly file?: string;
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
  /** How much of the line is wrong. */
  readonly length: number;
  /** The number after `TS`. */
  readonly code: number;
  /** With details in further lines. */
  readonly message: string;
}

/** Problems that are shown; the rest is counted. */
const most = 10;

/** The problems as people read them: place, message, and the line of the source. Paths are relative to `folder`. */
export function describeTypeProblems(
  problems: readonly TypeProblem[],
  { folder, colors }: { readonly folder: string; readonly colors: boolean },
): string {
  const paint = (style: 'red' | 'cyan' | 'dim', text: string) =>
    colors ? util.styleText(style, text, { validateStream: false }) : text;
  const shown = problems.slice(0, most).map((problem) => {
    const { file, line, column, length, code, message } = problem;
    const title = `${paint('red', 'error')} ${paint('dim', `TS${code}:`)} ${message}`;
    if (file === undefined) return title;
    const place = `${paint('cyan', relative(folder, file))}:${line}:${column}`;
    const source = sourceLine(file, line);
    if (source === undefined) return `${place} - ${title}`;
    const mark = '~'.repeat(Math.max(1, Math.min(length, source.length - column + 1)));
    // Tabs stay tabs, so that the mark is below what it marks.
    const indent = source.slice(0, column - 1).replace(/[^\t]/g, ' ');
    return `${place} - ${title}\n  ${source}\n  ${indent}${paint('red', mark)}`;
  });
  const more = problems.length - shown.length;
  return [...shown, ...(more > 0 ? [`… and ${more} more type errors`] : [])].join('\n');
}

/** Whether a problem is in a test: those are no part of the operator. */
export function isInTests({ file }: TypeProblem, folder: string): boolean {
  return (
    file !== undefined &&
    /\.(?:test|spec)\.[cm]?[jt]sx?$|(?:^|[/\\])(?:__tests__|tests?)[/\\]/.test(relative(folder, file))
  );
}

function sourceLine(file: string, line: number): string | undefined {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/)[line - 1];
  } catch {
    return undefined;
  }
}
