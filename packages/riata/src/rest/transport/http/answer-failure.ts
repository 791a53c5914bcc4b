import type { TransportErrorKind } from '../../errors/transport-error.js';

/** What came is not a whole answer: `eof` if it stopped early, `protocol` if it is no HTTP. */
export class AnswerFailure extends Error {
  readonly kind: Extract<TransportErrorKind, 'eof' | 'protocol'>;

  constructor(kind: AnswerFailure['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}
