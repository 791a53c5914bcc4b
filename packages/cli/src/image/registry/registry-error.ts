import { isTransportError } from 'riata/rest';

/** A registry's refusal. The message has no URL with a query, which may hold a signature. */
export class RegistryError extends Error {
  readonly status: number;
  /** Codes of the distribution specification, such as `DENIED` and `MANIFEST_UNKNOWN`. */
  readonly codes: readonly string[];
  /** What the registry asks to wait for before the next attempt. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    options: { status: number; codes: readonly string[]; retryAfterMs: number | undefined },
  ) {
    super(message);
    this.name = 'RegistryError';
    this.status = options.status;
    this.codes = options.codes;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The codes and messages of an error's body: `{ "errors": [{ "code": "DENIED", "message": "…" }] }`. */
export function readErrors(body: string): { readonly codes: string[]; readonly text: string } {
  let errors: unknown;
  try {
    errors = (JSON.parse(body) as { errors?: unknown } | null)?.errors;
  } catch {
    // A proxy in between answers in HTML.
  }
  if (!Array.isArray(errors)) return { codes: [], text: '' };
  const found = errors.filter(
    (each): each is { code?: unknown; message?: unknown } => typeof each === 'object' && each !== null,
  );
  const codes = found.flatMap(({ code }) => (typeof code === 'string' ? [code] : []));
  const texts = found.map(({ code, message }) => [code, message].filter((each) => typeof each === 'string').join(': '));
  return { codes, text: texts.join('; ').slice(0, 500) };
}

/** Whether another attempt may succeed. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof RegistryError) return [408, 429, 500, 502, 503, 504].includes(error.status);
  return isTransportError(error);
}
