/** Thrown for a malformed regular expression in Go's syntax. The message is that of Go's parser. */
export class PatternError extends Error {
  override readonly name = 'PatternError';

  constructor(what: string, where: string) {
    super(`${what}: \`${where}\``);
  }
}
