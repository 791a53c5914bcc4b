const longestChain = 8;
const mostSiblings = 4;

/**
 * An error with all its causes in one line, such as `ApiError: cannot list pods (caused by Error: ECONNRESET)`. A cause
 * whose message the error before it repeats is left out.
 * Takes anything that can be thrown, never throws itself, and ends on causes that go round in a circle.
 */
export function describeError(error: unknown): string {
  return describe(error, new Set());
}

function describe(error: unknown, seen: Set<unknown>): string {
  try {
    if (!(error instanceof Error)) return describeThrown(error);
    if (seen.has(error)) return `${error.name} (already named)`;
    if (seen.size === longestChain) return '…';
    seen.add(error);
    const message = String(error.message);
    let text = message === '' ? String(error.name) : `${error.name}: ${message}`;
    // A refused connection is an AggregateError without a message: all it has to say is in its parts.
    if (error instanceof AggregateError && Array.isArray(error.errors) && error.errors.length > 0) {
      const parts = error.errors.slice(0, mostSiblings).map((part) => describe(part, seen));
      const more = error.errors.length - parts.length;
      text += ` [${parts.join('; ')}${more > 0 ? `; and ${more} more` : ''}]`;
    }
    const cause = unsaidCause(error, text, seen);
    return cause === undefined ? text : `${text} (caused by ${describe(cause, seen)})`;
  } catch {
    return 'an error that cannot be read';
  }
}

/** The first cause that adds something to the text. */
function unsaidCause(error: Error, text: string, seen: Set<unknown>): unknown {
  let { cause } = error;
  while (cause instanceof Error && !seen.has(cause) && seen.size < longestChain) {
    if (cause instanceof AggregateError || cause.message === '' || !text.includes(cause.message)) break;
    seen.add(cause);
    cause = cause.cause;
  }
  if (typeof cause === 'string' && cause !== '' && text.includes(cause)) return undefined;
  return cause instanceof AggregateError && isSaid(cause, text) ? undefined : cause;
}

/** Whether a text names all parts of an error that has several. */
function isSaid({ message, errors }: AggregateError, text: string): boolean {
  return text.includes(message) && errors.every((part) => part instanceof Error && text.includes(part.message));
}

function describeThrown(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return String(value);
  const { name, message } = value as { name?: unknown; message?: unknown };
  if (typeof message === 'string') return typeof name === 'string' ? `${name}: ${message}` : message;
  return JSON.stringify(value) ?? String(value);
}
