import { goPattern } from '../structural/go-pattern.js';

/** What Go's regular expressions do not have though JavaScript's do, with the words of Go's parser. */
const unsupported: readonly (readonly [RegExp, (found: string, rest: string) => string])[] = [
  [/\(\?<[=!]/, (_found, rest) => `invalid named capture: \`${rest}\``],
  [/\(\?[=!]/, (found) => `invalid or unsupported Perl syntax: \`${found}\``],
  [/\\[1-9]/, (found) => `invalid escape sequence: \`${found}\``],
  [/\\k/, (found) => `invalid escape sequence: \`${found}\``],
];

/** What is wrong with a pattern for the server; undefined if nothing. */
export function patternProblem(pattern: string): string | undefined {
  const bare = pattern.replace(/\\\\/g, '  ');
  for (const [feature, words] of unsupported) {
    const found = feature.exec(bare);
    if (found !== null) return words(found[0], pattern.slice(found.index));
  }
  if (goPattern(pattern) !== undefined) return undefined;
  const depth = unbalanced(bare);
  if (depth === 'class') return `missing closing ]: \`${pattern.slice(bare.indexOf('['))}\``;
  if (depth === 'open') return `missing closing ): \`${pattern}\``;
  if (depth === 'closed') return `unexpected ): \`${pattern}\``;
  const repetition = /^[*+?]|[(|][*+?]/.exec(bare)?.[0];
  if (repetition !== undefined) return `missing argument to repetition operator: \`${repetition.at(-1)}\``;
  return `invalid or unsupported syntax: \`${pattern}\``;
}

function unbalanced(pattern: string): 'class' | 'open' | 'closed' | undefined {
  const bare = pattern.replace(/\\./g, '').replace(/\[\^?\]?[^\]]*\]/g, '');
  if (bare.includes('[')) return 'class';
  let depth = 0;
  for (const char of bare) {
    if (char === '(') depth++;
    else if (char === ')' && --depth < 0) return 'closed';
  }
  return depth > 0 ? 'open' : undefined;
}
