import { PatchError } from './patch-error.js';

/** The tokens of a JSON pointer (RFC 6901), unescaped: `/a~1b/0` → `['a/b', '0']`; the whole document is `[]`. */
export function parsePointer(pointer: string): string[] {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) {
    throw new PatchError('invalid', pointer, `JSON pointer "${pointer}" has to be empty or to begin with "/"`);
  }
  return pointer
    .slice(1)
    .split('/')
    .map((token) => {
      if (!token.includes('~')) return token;
      if (/~(?![01])/.test(token)) {
        throw new PatchError(
          'invalid',
          pointer,
          `JSON pointer "${pointer}": "~" has to be written as "~0", "/" as "~1"`,
        );
      }
      return token.replaceAll('~1', '/').replaceAll('~0', '~');
    });
}

/** The JSON pointer to a place: `['a/b', 0]` → `/a~1b/0`. */
export function formatPointer(tokens: readonly (string | number)[]): string {
  return tokens.map((token) => `/${escapeToken(String(token))}`).join('');
}

/** One token of a pointer, escaped. */
export function escapeToken(token: string): string {
  return /[~/]/.test(token) ? token.replaceAll('~', '~0').replaceAll('/', '~1') : token;
}
