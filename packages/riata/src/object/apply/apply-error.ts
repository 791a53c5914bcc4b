import type { Status } from '../meta.js';

/**
 * An apply that cannot be carried out, regardless of ownership: the configuration or the stored entries are invalid.
 */
export class ApplyError extends Error {
  override readonly name = 'ApplyError';
  /** The HTTP status the API server answers with: 400, or 500 for what upstream does not expect. */
  readonly code: 400 | 500;

  constructor(code: 400 | 500, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** The status code of the answer. */
  status(): Status {
    const reason = this.code === 400 ? { reason: 'BadRequest' } : {};
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...reason,
      code: this.code,
    };
  }
}
