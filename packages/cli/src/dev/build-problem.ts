import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describeError } from 'riata/runtime';

/** The parts of rolldown's errors that are shown. */
interface BuildError {
  readonly message: string;
  readonly loc?: { readonly file?: string; readonly line: number; readonly column: number };
}

/**
 * Why code cannot be loaded, for people: file, line and a part of the code for what does not compile, the lines of the
 * project for what fails when it is imported. Paths are relative to `folder`.
 */
export function describeProblem(
  error: unknown,
  { folder, colors }: { readonly folder: string; readonly colors: boolean },
): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const { errors } = cause as { readonly errors?: readonly BuildError[] };
  if (Array.isArray(errors) && errors.length > 0) {
    return errors.map((each) => describeBuildError(each, folder, colors)).join('\n');
  }
  if (!(cause instanceof Error)) return describeError(error);
  const lines = (cause.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line) && line.includes(folder));
  return [
    cause === error ? cause.message : describeError(cause),
    ...lines.map((line) => line.replaceAll(`${folder}/`, '')),
  ]
    .slice(0, 6)
    .join('\n');
}

function describeBuildError({ message, loc }: BuildError, folder: string, colors: boolean): string {
  const text = (colors ? message : stripVTControlCharacters(message)).trimEnd();
  if (loc?.file === undefined) return text;
  const place = `${relative(folder, loc.file)}:${loc.line}:${loc.column + 1}`;
  // The bundler's own frame names the file relative to the current folder of the process.
  const [title = '', ...frame] = text.split('\n');
  return [`${place}: ${title.replace(/\[[A-Z_]+\] ?/, '')}`, ...frame.filter((line) => !/[╭]/.test(line))].join('\n');
}
