/** Thrown for what is no regular expression in Go's syntax. The message is what Go's parser says of it. */
export class PatternError extends Error {
  override readonly name = 'PatternError';

  constructor(what: string, where: string) {
    super(`${what}: \`${where}\``);
  }
}
