import type { TransportErrorKind } from '../../errors/transport-error.js';

/** The answer is incomplete or malformed: `eof` if it stopped early, `protocol` if it is not HTTP. */
export class AnswerFailure extends Error {
  readonly kind: Extract<TransportErrorKind, 'eof' | 'protocol'>;

  constructor(kind: AnswerFailure['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}
