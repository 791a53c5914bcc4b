/** An error in the evaluation of an expression, in cel-go's words. */
export class CelError extends Error {
  override readonly name = 'CelError';
}

/** More than an expression may cost: no error that an expression could absorb. */
export class CostLimitError extends Error {
  override readonly name = 'CostLimitError';

  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

/** The arguments are of types that the function does not take. */
export function noSuchOverload(signature?: string): CelError {
  return new CelError(signature === undefined ? 'no such overload' : `no such overload: ${signature}`);
}

/** A complaint about a place in the text of an expression. */
export interface Complaint {
  /** Offset in the text, in code points. */
  readonly at: number;
  readonly message: string;
}

/** An expression that cannot be read, or whose types do not fit. */
export class CompileError extends Error {
  override readonly name = 'CompileError';
  readonly complaints: readonly Complaint[];

  constructor(source: string, complaints: readonly Complaint[]) {
    super(display(source, complaints));
    this.complaints = complaints;
  }
}

/** Each complaint with its line and a pointer to the place. */
function display(source: string, complaints: readonly Complaint[]): string {
  const points = [...source];
  return [...complaints]
    .sort((a, b) => a.at - b.at)
    .map(({ at, message }) => {
      // It is about no place.
      if (at < 0) return `ERROR: <input>:-1:0: ${message}`;
      const before = points.slice(0, at);
      const line = before.filter((c) => c === '\n').length;
      const column = at - (before.lastIndexOf('\n') + 1);
      const text = (source.split('\n')[line] ?? '').replaceAll('\t', ' ');
      const dots = [...text]
        .slice(0, column)
        .map((c) => ((c.codePointAt(0) as number) > 0x7f ? '．' : '.'))
        .join('');
      return `ERROR: <input>:${line + 1}:${column + 1}: ${message}\n | ${text}\n | ${dots.padEnd(column, '.')}^`;
    })
    .join('\n');
}
